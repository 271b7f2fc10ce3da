import type { Handler } from '../../http/handler.ts';
import { createEndpointFor, operatorOf } from '../me/callback-endpoints.ts';
import { success } from '../success.ts';

/** Creates a callback endpoint of the operator. Only this response and a rotation show the secret. */
export const createOperatorEndpoint: Handler<'createOperatorEndpoint'> = async (request, reply) => {
  const owner = operatorOf(request, 'createOperatorEndpoint');
  reply.json(200, success(await createEndpointFor(owner, request.body)));
};
