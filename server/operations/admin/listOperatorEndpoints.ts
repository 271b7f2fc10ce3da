import type { Handler } from '../../http/handler.ts';
import { endpointsOf, operatorOf } from '../me/callback-endpoints.ts';
import { success } from '../success.ts';

/** Lists the callback endpoints of the operator, the oldest first. */
export const listOperatorEndpoints: Handler<'listOperatorEndpoints'> = async (request, reply) => {
  const owner = operatorOf(request, 'listOperatorEndpoints');
  reply.json(200, success(await endpointsOf(owner)));
};
