import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';

/** Ends maintenance mode on all workers of this gateway. The change is recorded before it takes effect. */
export const releaseGateway: Handler<'releaseGateway'> = async ({ gateway, caller }, reply) => {
  if (gateway.maintenance) {
    const change = changeBy({ gateway, caller }, 'releaseGateway');
    await gateway.store.run('recordChange', { ...change, subject: 'gateway', details: {} });
  }
  const released = await gateway.endMaintenance();
  await gateway.siblings?.endMaintenance();
  reply.json(200, success({ released }));
};
