import type { Handler } from '../../http/handler.ts';
import { listEndpoints as findEndpoints } from '../../store/queries/endpoints.ts';
import { success } from '../success.ts';
import { ownerOf, viewEndpoint } from './callback-endpoints.ts';

/** Lists the callback endpoints of the caller, the oldest first. */
export const listEndpoints: Handler<'listEndpoints'> = async (request, reply) => {
  const owner = ownerOf(request);
  const items = (await findEndpoints(request.gateway.store.read, owner.userId)).map((endpoint) =>
    viewEndpoint(endpoint, request.gateway.clock()),
  );
  reply.json(200, success({ items, total: items.length }));
};
