import type { Handler } from '../../http/handler.ts';
import { operatorOf, resendTo } from '../me/callback-endpoints.ts';
import { success } from '../success.ts';

/** Resends an event to a callback endpoint of the operator. */
export const resendOperatorEndpointDelivery: Handler<'resendOperatorEndpointDelivery'> = async (
  request,
  reply,
) => {
  const owner = operatorOf(request, 'resendOperatorEndpointDelivery');
  reply.json(200, success(await resendTo(owner, request.path)));
};
