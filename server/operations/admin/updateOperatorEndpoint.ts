import type { Handler } from '../../http/handler.ts';
import { operatorOf, updateEndpointOf } from '../me/callback-endpoints.ts';
import { success } from '../success.ts';

/** Changes a callback endpoint of the operator. */
export const updateOperatorEndpoint: Handler<'updateOperatorEndpoint'> = async (request, reply) => {
  const owner = operatorOf(request, 'updateOperatorEndpoint');
  reply.json(200, success(await updateEndpointOf(owner, request.path.id, request.body)));
};
