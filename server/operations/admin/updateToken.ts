import type { Handler } from '../../http/handler.ts';
import { limitsRefused, refuseSessionKey, scopeDenied, userNotAdmin } from '../../keys/admin-scope.ts';
import { readKeyFields } from '../../keys/key-fields.ts';
import { notFound } from '../../lib/failure.ts';
import { success } from '../success.ts';
import { viewAnyToken } from '../tokens/token-view.ts';
import { changeBy } from './admin-change.ts';

/** Changes a key of any user. Its new limits apply on this gateway at once, on others within a second. */
export const updateToken: Handler<'updateToken'> = async ({ gateway, caller, path, body }, reply) => {
  const { store, keys, settings } = gateway;
  const change = changeBy({ gateway, caller }, 'updateToken');
  const { name, status, ...limits } = body;
  if (Object.keys(limits).length > 0) await refuseSessionKey(store, path.id, 'id');
  const set = { name, status, ...readKeyFields(body, settings.groups, change.now) };
  const token = await store.run('updateToken', { id: path.id, set, change });
  if (token === 'not_found') throw notFound('id', 'there is no such key.');
  if (token === 'scope_denied') throw scopeDenied();
  if (token === 'user_not_admin') throw userNotAdmin();
  if ('limits' in token) throw limitsRefused(token.limits, body);
  keys.invalidate({ tokenId: token.id });
  reply.json(200, success(viewAnyToken(token, change.now)));
};
