import type { Handler } from '../../http/handler.ts';
import { refuseSessionKey } from '../../keys/admin-scope.ts';
import { fieldsOfChangedKey } from '../../keys/new-key.ts';
import { changeBy } from '../admin/admin-change.ts';
import { changeToken } from '../admin/change-token.ts';
import { success } from '../success.ts';
import { viewToken } from '../tokens/token-view.ts';
import { findAccountToken } from './accounts.ts';

/** Changes a key of a sub-account of the caller's user, which then has no more rights than the key that changes it. */
export const updateMyAccountToken: Handler<'updateMyAccountToken'> = async (request, reply) => {
  const { gateway, caller, path, body } = request;
  const { token, owner } = await findAccountToken(request);
  const change = changeBy({ gateway, caller }, 'updateMyAccountToken');
  const { name: _, status: __, ...limits } = body;
  if (Object.keys(limits).length > 0) await refuseSessionKey(gateway.store, token.id, 'id');
  const { settings } = gateway;
  const set = fieldsOfChangedKey({ record: owner, caller, settings, now: change.now }, token, body);
  const changed = await changeToken(gateway, { id: path.id, set, change }, body);
  reply.json(200, success(viewToken(changed, change.now)));
};
