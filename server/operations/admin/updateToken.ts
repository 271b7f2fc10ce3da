import type { Handler } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { limitsRefused, scopeDenied, userNotAdmin } from '../tokens/admin-scope.ts';
import { changeBy } from './admin-change.ts';
import { limitsOfAnyKey, viewAnyToken } from './any-token.ts';

/** Changes a key of any user. It is held to less here at once, elsewhere within a second. */
export const updateToken: Handler<'updateToken'> = async ({ gateway, caller, path, body }, reply) => {
  const { store, keys, settings } = gateway;
  const change = changeBy({ gateway, caller }, 'updateToken');
  const { name, status } = body;
  const set = { name, status, ...limitsOfAnyKey(body, settings.groups, change.now) };
  const token = await store.run('updateToken', { id: path.id, set, change });
  if (token === 'not_found') throw new Failure(404, 'resource_not_found', 'id: there is no such key.');
  if (token === 'scope_denied') throw scopeDenied();
  if (token === 'user_not_admin') throw userNotAdmin();
  if ('limits' in token) throw limitsRefused(token.limits, body);
  keys.invalidate({ tokenId: token.id });
  reply.json(200, { success: true, message: '', data: viewAnyToken(token, change.now) });
};
