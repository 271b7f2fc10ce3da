import type { Handler } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { findShownDelivery } from '../../store/queries/delivery-search.ts';
import { changeBy } from './admin-change.ts';
import { viewDelivery } from './delivery-view.ts';

/** Has a callback tried again now, in its order among those of its task. */
export const resendDelivery: Handler<'resendDelivery'> = async (request, reply) => {
  const { gateway, path } = request;
  const { store, callbackDeliveries: deliveries, timers } = gateway;
  const { id } = path;
  const change = { ...changeBy(request, 'resendDelivery'), subject: `delivery ${id}`, details: {} };
  const outcome = await store.run('resendDelivery', { id, now: timers.monotonic(), change });
  const delivery = await findShownDelivery(store.read, id);
  if (outcome === 'not_found' || delivery === undefined)
    throw new Failure(404, 'resource_not_found', 'id: there is no such delivery, or its task was deleted.');
  deliveries.wake();
  reply.json(200, { success: true, message: '', data: viewDelivery(delivery) });
};
