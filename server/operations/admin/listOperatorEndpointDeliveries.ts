import type { Handler } from '../../http/handler.ts';
import { deliveriesTo, operatorOf } from '../me/callback-endpoints.ts';
import { success } from '../success.ts';

/** Lists the deliveries to a callback endpoint of the operator, the newest first. */
export const listOperatorEndpointDeliveries: Handler<'listOperatorEndpointDeliveries'> = async (
  request,
  reply,
) => {
  const owner = operatorOf(request, 'listOperatorEndpointDeliveries');
  reply.json(200, success(await deliveriesTo(owner, request)));
};
