import type { Handler } from '../../http/handler.ts';
import { deleteEndpointOf, operatorOf } from '../me/callback-endpoints.ts';

/** Deletes a callback endpoint of the operator with its deliveries. */
export const deleteOperatorEndpoint: Handler<'deleteOperatorEndpoint'> = async (request, reply) => {
  const owner = operatorOf(request, 'deleteOperatorEndpoint');
  await deleteEndpointOf(owner, request.path.id);
  reply.json(200, { success: true, message: '' });
};
