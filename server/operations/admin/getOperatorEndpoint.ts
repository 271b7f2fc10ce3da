import type { Handler } from '../../http/handler.ts';
import { operatorOf, requireEndpoint, viewEndpoint } from '../me/callback-endpoints.ts';
import { success } from '../success.ts';

/** Returns a callback endpoint of the operator. */
export const getOperatorEndpoint: Handler<'getOperatorEndpoint'> = async (request, reply) => {
  const owner = operatorOf(request, 'getOperatorEndpoint');
  const endpoint = await requireEndpoint(owner, request.path.id);
  reply.json(200, success(viewEndpoint(endpoint, request.gateway.clock())));
};
