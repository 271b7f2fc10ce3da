import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';
import { endpointsOf, ownerOf } from './callback-endpoints.ts';

/** Lists the callback endpoints of the caller, the oldest first. */
export const listEndpoints: Handler<'listEndpoints'> = async (request, reply) => {
  const owner = ownerOf(request);
  reply.json(200, success(await endpointsOf(owner)));
};
