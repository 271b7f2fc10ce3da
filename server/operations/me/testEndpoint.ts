import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';
import { ownerOf, pingEndpointOf } from './callback-endpoints.ts';

/** Sends a test event to a callback endpoint of the caller. */
export const testEndpoint: Handler<'testEndpoint'> = async (request, reply) => {
  const owner = ownerOf(request);
  reply.json(200, success(await pingEndpointOf(owner, request.path.id)));
};
