import type { Handler } from '../../http/handler.ts';
import { requireNoLimits, scopeDenied, userNotAdmin } from '../../keys/admin-scope.ts';
import { readKeyFields } from '../../keys/key-fields.ts';
import { invalid, notFound } from '../../lib/failure.ts';
import { canGiveAdminScope } from '../../store/commands/key-rights.ts';
import { generateKey, hashKey, keyHint } from '../../store/keys.ts';
import { findUser } from '../../store/queries/users.ts';
import { unknownMemberOfKey } from '../me/members.ts';
import { success } from '../success.ts';
import { viewAnyToken } from '../tokens/token-view.ts';
import { changeBy } from './admin-change.ts';

/** Creates a key for a user, with new quota. Only this response shows the secret. */
export const createUserToken: Handler<'createUserToken'> = async (request, reply) => {
  const { gateway, caller, path, body } = request;
  const { store, settings } = gateway;
  const change = changeBy({ gateway, caller }, 'createUserToken');
  const { now } = change;
  const fields = readKeyFields(body, settings.groups, now);
  const user = await findUser(store.read, path.id);
  if (user === undefined) throw notFound('id', 'there is no such user.');
  if (body.admin === true) {
    // The caller is cached, and another gateway may have removed its scope.
    if (!(await canGiveAdminScope(store.read, caller.tokenId))) throw scopeDenied();
    if (user.role !== 'admin') throw userNotAdmin();
    requireNoLimits(fields, body);
  }
  const key = generateKey();
  const newToken = {
    ...fields,
    userId: user.id,
    name: body.name,
    keyHash: hashKey(key),
    keyHint: keyHint(key),
    remainQuota: body.remain_quota ?? 0,
    now,
    change: { ...change, details: { user_id: user.id, ...body } },
  };
  const { member_id: memberId } = body;
  if (memberId !== undefined && body.admin === true)
    throw invalid('member_id', 'a key with the scope admin cannot belong to a member.');
  const token =
    memberId === undefined
      ? await store.run('createToken', newToken)
      : await store.run('createMemberToken', { ...newToken, memberId });
  if (token === 'no_member') throw unknownMemberOfKey(memberId);
  reply.json(200, success(viewAnyToken(token, now, key)));
};
