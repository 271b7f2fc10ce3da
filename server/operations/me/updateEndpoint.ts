import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';
import { ownerOf, updateEndpointOf } from './callback-endpoints.ts';

/** Changes a callback endpoint of the caller. */
export const updateEndpoint: Handler<'updateEndpoint'> = async (request, reply) => {
  const owner = ownerOf(request);
  reply.json(200, success(await updateEndpointOf(owner, request.path.id, request.body)));
};
