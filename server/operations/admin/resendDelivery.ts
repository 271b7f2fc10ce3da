import type { Handler } from '../../http/handler.ts';
import { notFound } from '../../lib/failure.ts';
import { findShownDelivery } from '../../store/queries/delivery-search.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';
import { viewDelivery } from './delivery-view.ts';

/** Resends a callback now, after earlier callbacks of the same task. */
export const resendDelivery: Handler<'resendDelivery'> = async (request, reply) => {
  const { gateway, path } = request;
  const { store, callbackDeliveries, timers } = gateway;
  const { id } = path;
  const change = { ...changeBy(request, 'resendDelivery'), subject: `delivery ${id}`, details: {} };
  const outcome = await store.run('resendDelivery', { id, now: timers.monotonic(), change });
  const delivery = await findShownDelivery(store.read, id);
  if (outcome === 'not_found' || delivery === undefined)
    throw notFound('id', 'there is no such delivery, or its task was deleted.');
  callbackDeliveries.wake();
  reply.json(200, success(viewDelivery(delivery)));
};
