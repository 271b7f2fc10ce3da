import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';
import { endpointOf, ownerOf } from './callback-endpoints.ts';

/** Returns a callback endpoint of the caller. */
export const getEndpoint: Handler<'getEndpoint'> = async (request, reply) => {
  const owner = ownerOf(request);
  reply.json(200, success(await endpointOf(owner, request.path.id)));
};
