import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';

/** Ends maintenance mode on all workers of this gateway. */
export const releaseGateway: Handler<'releaseGateway'> = async ({ gateway }, reply) => {
  const released = await gateway.endMaintenance();
  await gateway.siblings?.endMaintenance();
  reply.json(200, success({ released }));
};
