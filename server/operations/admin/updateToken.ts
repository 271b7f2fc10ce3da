import type { Handler } from '../../http/handler.ts';
import { refuseSessionKey } from '../../keys/admin-scope.ts';
import { readKeyFields } from '../../keys/key-fields.ts';
import { success } from '../success.ts';
import { viewAnyToken } from '../tokens/token-view.ts';
import { changeBy } from './admin-change.ts';
import { changeToken } from './change-token.ts';

/** Changes a key of any user. Its new limits apply on this gateway at once, on others within a second. */
export const updateToken: Handler<'updateToken'> = async ({ gateway, caller, path, body }, reply) => {
  const { store, settings } = gateway;
  const change = changeBy({ gateway, caller }, 'updateToken');
  const { name, status, ...limits } = body;
  if (Object.keys(limits).length > 0) await refuseSessionKey(store, path.id, 'id');
  const set = { name, status, ...readKeyFields(body, settings.groups, change.now) };
  const token = await changeToken(gateway, { id: path.id, set, change }, body);
  reply.json(200, success(viewAnyToken(token, change.now)));
};
