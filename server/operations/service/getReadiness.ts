import { Failure } from '../../failure.ts';
import type { Handler } from '../../http/handler.ts';

/** Ready while the store can read and write, and the process is not about to stop. */
export const getReadiness: Handler<'getReadiness'> = async ({ gateway }, reply) => {
  if (gateway.draining)
    throw new Failure(503, 'draining', 'This gateway is about to stop.', { retryAfter: 1 });
  await gateway.store.check();
  reply.json(200, { status: 'ok' });
};
