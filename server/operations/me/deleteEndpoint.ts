import type { Handler } from '../../http/handler.ts';
import { deleteEndpointOf, ownerOf } from './callback-endpoints.ts';

/** Deletes a callback endpoint of the caller with its deliveries. */
export const deleteEndpoint: Handler<'deleteEndpoint'> = async (request, reply) => {
  const owner = ownerOf(request);
  await deleteEndpointOf(owner, request.path.id);
  reply.json(200, { success: true, message: '' });
};
