import type { Handler, RequestBody } from '../../http/handler.ts';
import { keyRefused } from '../../keys/key-cache.ts';
import { Failure } from '../../lib/failure.ts';
import { generateKey, hashKey, keyHint } from '../../store/keys.ts';
import { findToken, hasAdminAccess } from '../../store/queries/tokens.ts';
import { changeBy } from '../admin/admin-change.ts';
import { scopeDenied } from './admin-scope.ts';
import { limitsOfNewKey } from './new-key.ts';
import { viewToken } from './token-view.ts';

/** Keys in a chain in which each key was created with the one before. */
const maxLevels = 8;

/**
 * Creates a key for the caller's user, with no more rights than the key that creates it. The quota of a limited key is
 * taken from that key. Only this response shows the secret. What an admin key creates is recorded in `changes`.
 */
export const createToken: Handler<'createToken'> = async ({ gateway, caller, body }, reply) => {
  const { store } = gateway;
  const now = gateway.clock();
  const maker = await findToken(store.read, caller.tokenId);
  if (maker === undefined) throw keyRefused();
  if (!maker.canCreateKeys) throw creationDenied();
  if (maker.lineage.ancestorIds.length + 1 >= maxLevels) throw tooDeep();
  const key = generateKey();
  const order = {
    token: {
      ...limitsOfNewKey({ gateway, caller, record: maker, now }, body),
      userId: maker.userId,
      name: body.name,
      keyHash: hashKey(key),
      keyHint: keyHint(key),
      makerId: maker.id,
      now,
    },
    fromMaker: !maker.unlimitedQuota,
    ...(hasAdminAccess(maker) && {
      change: {
        ...changeBy({ gateway, caller }, 'createToken'),
        details: { user_id: maker.userId, ...askedIn(body) },
      },
    }),
    maxKeys: gateway.settings.keysPerKey,
  };
  const make = () => store.run('createChildToken', order);
  const amount = order.token.remainQuota;
  const made = await gateway.callQuota.withReclaim(
    maker.id,
    amount,
    make,
    (answer) => answer === 'insufficient_quota',
  );
  if (made === 'maker_gone') throw keyRefused();
  if (made === 'creation_denied') throw creationDenied();
  if (made === 'scope_denied') throw scopeDenied();
  if (made === 'too_many_keys') throw tooManyKeys(order.maxKeys);
  if (made === 'insufficient_quota') {
    const message = 'remain_quota: it is taken from the key that makes the new one, which has less left.';
    throw new Failure(403, 'insufficient_user_quota', message);
  }
  reply.json(200, { success: true, message: '', data: viewToken(made, now, key) });
};

const creationDenied = () =>
  new Failure(403, 'access_denied', 'This key, or a key that it was created with, may not create keys.');

/** The fields of the contract in a request. A client can send others, which mean nothing. */
function askedIn(body: RequestBody<'createToken'>) {
  const { name, remain_quota, unlimited_quota, expired_time, group } = body;
  const { model_limits_enabled, model_limits, allow_ips, requests_per_minute, sockets, admin, create_keys } =
    body;
  const limits = {
    remain_quota,
    unlimited_quota,
    expired_time,
    model_limits_enabled,
    model_limits,
    allow_ips,
  };
  return { name, group, ...limits, requests_per_minute, sockets, admin, create_keys };
}
const tooDeep = () =>
  new Failure(
    403,
    'access_denied',
    `A chain of keys, each created with the one before, has at most ${maxLevels} levels.`,
  );

const tooManyKeys = (limit: number) =>
  new Failure(403, 'access_denied', `At most ${limit} keys can exist that were created with this key.`);
