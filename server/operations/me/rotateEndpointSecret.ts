import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';
import { ownerOf, rotateSecretOf } from './callback-endpoints.ts';

/** Replaces the secret of a callback endpoint of the caller. Both secrets sign until the end of the overlap. */
export const rotateEndpointSecret: Handler<'rotateEndpointSecret'> = async (request, reply) => {
  const owner = ownerOf(request);
  const { overlap_seconds: overlap = 86_400 } = request.query;
  reply.json(200, success(await rotateSecretOf(owner, request.path.id, overlap)));
};
