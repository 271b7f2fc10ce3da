import type { Handler } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { canGiveAdminScope } from '../../store/commands/key-rights.ts';
import { generateKey, hashKey, keyHint } from '../../store/keys.ts';
import { findUser } from '../../store/queries/users.ts';
import { requireNoLimits, scopeDenied, userNotAdmin } from '../tokens/admin-scope.ts';
import { changeBy } from './admin-change.ts';
import { limitsOfAnyKey, viewAnyToken } from './any-token.ts';

/** Makes a key for a user, with quota that is given to it. The secret is shown here only. */
export const createUserToken: Handler<'createUserToken'> = async (request, reply) => {
  const { gateway, caller, path, body } = request;
  const { store, settings } = gateway;
  const change = changeBy({ gateway, caller }, 'createUserToken');
  const { now } = change;
  const limits = limitsOfAnyKey(body, settings.groups, now);
  const user = await findUser(store.read, path.id);
  if (user === undefined) throw new Failure(404, 'resource_not_found', 'id: there is no such user.');
  if (body.admin === true) {
    // The caller is cached. A key that has lost the scope elsewhere must not give it on in the meantime.
    if (!(await canGiveAdminScope(store.read, caller.tokenId))) throw scopeDenied();
    if (user.role !== 'admin') throw userNotAdmin();
    requireNoLimits(limits, body);
  }
  const { name, remain_quota: remainQuota = 0 } = body;
  const key = generateKey();
  const token = await store.run('createToken', {
    ...limits,
    userId: user.id,
    name,
    keyHash: hashKey(key),
    keyHint: keyHint(key),
    remainQuota,
    now,
    change: { ...change, details: { user_id: user.id, ...body } },
  });
  reply.json(200, { success: true, message: '', data: viewAnyToken(token, now, key) });
};
