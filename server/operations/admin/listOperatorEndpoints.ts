import type { Handler } from '../../http/handler.ts';
import { listEndpoints as findEndpoints } from '../../store/queries/endpoints.ts';
import { operatorOf, viewEndpoint } from '../me/callback-endpoints.ts';
import { success } from '../success.ts';

/** Lists the callback endpoints of the operator, the oldest first. */
export const listOperatorEndpoints: Handler<'listOperatorEndpoints'> = async (request, reply) => {
  const owner = operatorOf(request, 'listOperatorEndpoints');
  const items = (await findEndpoints(request.gateway.store.read, owner.userId)).map((endpoint) =>
    viewEndpoint(endpoint, request.gateway.clock()),
  );
  reply.json(200, success({ items, total: items.length }));
};
