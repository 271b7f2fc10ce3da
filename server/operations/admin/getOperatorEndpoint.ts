import type { Handler } from '../../http/handler.ts';
import { endpointOf, operatorOf } from '../me/callback-endpoints.ts';
import { success } from '../success.ts';

/** Returns a callback endpoint of the operator. */
export const getOperatorEndpoint: Handler<'getOperatorEndpoint'> = async (request, reply) => {
  const owner = operatorOf(request, 'getOperatorEndpoint');
  reply.json(200, success(await endpointOf(owner, request.path.id)));
};
