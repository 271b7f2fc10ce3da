import type { Handler } from '../../http/handler.ts';
import { operatorOf, pingEndpointOf } from '../me/callback-endpoints.ts';
import { success } from '../success.ts';

/** Sends a test event to a callback endpoint of the operator. */
export const testOperatorEndpoint: Handler<'testOperatorEndpoint'> = async (request, reply) => {
  const owner = operatorOf(request, 'testOperatorEndpoint');
  reply.json(200, success(await pingEndpointOf(owner, request.path.id)));
};
