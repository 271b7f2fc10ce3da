import type { Handler } from '../../http/handler.ts';
import { operatorOf, rotateSecretOf } from '../me/callback-endpoints.ts';
import { success } from '../success.ts';

/** Replaces the secret of a callback endpoint of the operator. Both secrets sign until the end of the overlap. */
export const rotateOperatorEndpointSecret: Handler<'rotateOperatorEndpointSecret'> = async (
  request,
  reply,
) => {
  const owner = operatorOf(request, 'rotateOperatorEndpointSecret');
  const { overlap_seconds: overlap = 86_400 } = request.query;
  reply.json(200, success(await rotateSecretOf(owner, request.path.id, overlap)));
};
