import type { Handler, RequestBody } from '../../http/handler.ts';
import { scopeDenied } from '../../keys/admin-scope.ts';
import { isOwner } from '../../keys/caller.ts';
import { keyRefused } from '../../keys/key-cache.ts';
import { creationDenied, fieldsOfNewKey } from '../../keys/new-key.ts';
import { accessDenied, Failure, invalid } from '../../lib/failure.ts';
import { generateKey, hashKey, keyHint } from '../../store/keys.ts';
import { findToken, hasAdminAccess } from '../../store/queries/tokens.ts';
import { changeBy } from '../admin/admin-change.ts';
import { unknownMemberOfKey } from '../me/members.ts';
import { success } from '../success.ts';
import { viewToken } from './token-view.ts';

/**
 * Creates a key for the caller's user, with no more rights than the key that creates it. The quota of a limited key is
 * taken from that key. Only this response shows the secret. If the creating key has admin access, `changes` records it.
 */
export const createToken: Handler<'createToken'> = async ({ gateway, caller, body }, reply) => {
  const { store, settings } = gateway;
  const now = gateway.clock();
  const creator = await findToken(store.read, caller.tokenId);
  if (creator === undefined) throw keyRefused();
  const { member_id: memberId } = body;
  if (memberId !== undefined) {
    if (!isOwner(caller))
      throw accessDenied('member_id: only an owner without limits creates keys of members.');
    if (body.admin === true)
      throw invalid('member_id', 'a key with the scope admin cannot belong to a member.');
  }
  const key = generateKey();
  const fields = fieldsOfNewKey({ record: creator, caller, settings, now }, body);
  const { id: makerId, userId } = creator;
  const change = {
    ...changeBy({ gateway, caller }, 'createToken'),
    details: { user_id: userId, ...fieldsIn(body) },
  };
  const order = {
    token: {
      ...fields,
      memberId: memberId ?? null,
      userId,
      name: body.name,
      keyHash: hashKey(key),
      keyHint: keyHint(key),
      makerId,
      now,
    },
    fromMaker: !creator.unlimitedQuota && !creator.isSession,
    ...(hasAdminAccess(creator) && { change }),
    maxKeys: settings.keysPerKey,
  };
  const created = await gateway.callQuota.withReclaim(
    creator.id,
    fields.remainQuota,
    () => store.run('createChildToken', order),
    (result) => result === 'insufficient_quota',
    { limitOnly: true },
  );
  if (created === 'maker_gone') throw keyRefused();
  if (created === 'creation_denied') throw creationDenied();
  if (created === 'scope_denied') throw scopeDenied();
  if (created === 'no_member') throw unknownMemberOfKey(memberId);
  if (created === 'too_many_keys')
    throw accessDenied(`At most ${order.maxKeys} keys can exist that were created with this key.`);
  if (created === 'insufficient_quota') {
    const { remainQuota: remaining = 0 } = (await findToken(store.read, creator.id)) ?? {};
    const message = `remain_quota: it is taken from the key that creates the new one, which has ${remaining} left.`;
    throw new Failure(403, 'insufficient_user_quota', message);
  }
  reply.json(200, success(viewToken(created, now, key)));
};

/** Returns the fields of the contract in a request. A client can send others, which have no effect. */
function fieldsIn(body: RequestBody<'createToken'>) {
  const { name, group, remain_quota, unlimited_quota, expired_time, admin, create_keys } = body;
  const { model_limits_enabled, model_limits, allow_ips, requests_per_minute, sockets, member_id } = body;
  const quota = { remain_quota, unlimited_quota, expired_time };
  const limits = { model_limits_enabled, model_limits, allow_ips, requests_per_minute, sockets };
  return { name, group, ...quota, ...limits, admin, create_keys, member_id };
}
