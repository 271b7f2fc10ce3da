import type { Handler } from '../../http/handler.ts';
import { requireReady } from '../../http/readiness.ts';

export const getReadiness: Handler<'getReadiness'> = async ({ gateway }, reply) => {
  await requireReady(gateway).catch(async (reason: unknown) => {
    // Workers share the port, so the gateway is ready while any of them is.
    if (!(await gateway.siblings?.isAnyReady())) throw reason;
  });
  reply.json(200, { status: 'ok' });
};
