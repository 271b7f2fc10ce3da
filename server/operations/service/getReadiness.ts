import { sql } from 'kysely';
import { Failure } from '../../failure.ts';
import type { Handler } from '../../http/handler.ts';

/** Ready while the store answers and the process is not about to stop. */
export const getReadiness: Handler<'getReadiness'> = async ({ gateway }, reply) => {
  if (gateway.draining)
    throw new Failure(503, 'draining', 'This gateway is about to stop.', { retryAfter: 1 });
  try {
    await sql`select 1`.execute(gateway.store.read);
  } catch (cause) {
    throw new Failure(503, 'store_unavailable', 'The store does not answer.', { retryAfter: 1, cause });
  }
  reply.json(200, { status: 'ok' });
};
