import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';
import { deliveriesTo, ownerOf } from './callback-endpoints.ts';

/** Lists the deliveries to a callback endpoint of the caller, the newest first. */
export const listEndpointDeliveries: Handler<'listEndpointDeliveries'> = async (request, reply) => {
  const owner = ownerOf(request);
  reply.json(200, success(await deliveriesTo(owner, request)));
};
