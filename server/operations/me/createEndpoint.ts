import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';
import { createEndpointFor, ownerOf } from './callback-endpoints.ts';

/** Creates a callback endpoint of the caller. Only this response and a rotation show the secret. */
export const createEndpoint: Handler<'createEndpoint'> = async (request, reply) => {
  const owner = ownerOf(request);
  reply.json(200, success(await createEndpointFor(owner, request.body)));
};
