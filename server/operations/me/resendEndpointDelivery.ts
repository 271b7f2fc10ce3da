import type { Handler } from '../../http/handler.ts';
import { success } from '../success.ts';
import { ownerOf, resendTo } from './callback-endpoints.ts';

/** Resends an event to a callback endpoint of the caller. */
export const resendEndpointDelivery: Handler<'resendEndpointDelivery'> = async (request, reply) => {
  const owner = ownerOf(request);
  reply.json(200, success(await resendTo(owner, request.path)));
};
