import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';
import { ownerOf, requireEndpoint, viewEndpoint } from './callback-endpoints.ts';

/** Returns a callback endpoint of the caller. */
export const getEndpoint: Handler<'getEndpoint'> = async (request, reply) => {
  const owner = ownerOf(request);
  const endpoint = await requireEndpoint(owner, request.path.id);
  reply.json(200, success(viewEndpoint(endpoint, request.gateway.clock())));
};
