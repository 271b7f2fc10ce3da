import type { Kysely } from 'kysely';
import { findToken, type LimitField, limitsOn, type TokenRecord } from '../queries/tokens.ts';
import type { Database } from '../schema.ts';
import { grant, insertToken, madeToken, type NewToken } from './accounts.ts';
import { type Creation, differences, type Intent, recordChange } from './changes.ts';
import type { Command } from './command.ts';
import { canGiveAdminScope, hasCreationRight } from './key-rights.ts';
import {
  adoptChildren,
  isInFamily,
  lockToken,
  recordMove,
  removeFamily,
  returnLeftover,
} from './revocation.ts';

export type MakeTokenResult =
  | TokenRecord
  | 'insufficient_quota'
  | 'maker_gone'
  /** The maker, or a key that it was created with, may not create keys. */
  | 'creation_denied'
  /** The new key is to have the scope `admin`, and the maker has no admin access. */
  | 'scope_denied'
  /** As many live keys as `maxKeys` were created with the maker. */
  | 'too_many_keys';

/**
 * Creates a key with another one, which must exist and be enabled. With `fromMaker` the quota is taken from that key, and
 * the remainder goes back there in the end. `change` is recorded where an admin key creates it.
 */
export const createChildToken: Command<
  { token: NewToken & { makerId: number }; fromMaker: boolean; maxKeys?: number; change?: Creation },
  MakeTokenResult
> = async (trx, { token, fromMaker, maxKeys = 0, change }) => {
  const { makerId, remainQuota: amount = 0, now } = token;
  const takes = fromMaker && amount > 0;
  // Locks the maker's row, so that the maker keeps its rights and is not deleted until the key exists, and that only one
  // key at a time is created with it.
  await lockToken(trx, makerId);
  if (!(await hasCreationRight(trx, makerId))) return 'creation_denied';
  if (token.adminScope === true && !(await canGiveAdminScope(trx, makerId))) return 'scope_denied';
  if (maxKeys > 0 && (await countChildren(trx, makerId)) >= maxKeys) return 'too_many_keys';
  const maker = await trx
    .updateTable('tokens')
    .set((row) => ({ remain_quota: row('remain_quota', '-', takes ? amount : 0) }))
    .where('id', '=', makerId)
    .where('deleted_at', 'is', null)
    .where('status', '=', 1)
    .$if(takes, (query) => query.where('remain_quota', '>=', amount))
    .executeTakeFirst();
  if (maker.numUpdatedRows === 0n) {
    const found = await trx
      .selectFrom('tokens')
      .select('id')
      .where('id', '=', makerId)
      .where('deleted_at', 'is', null)
      .where('status', '=', 1)
      .executeTakeFirst();
    return found === undefined ? 'maker_gone' : 'insufficient_quota';
  }
  const { id } = await insertToken(trx, token, fromMaker ? makerId : null);
  if (takes) await recordMove(trx, { from: makerId, to: id, amount, now });
  else if (amount > 0)
    await trx
      .insertInto('grants')
      .values(grant(id, amount, now))
      .execute();
  if (change !== undefined) await recordChange(trx, { ...change, subject: `token ${id}` });
  return madeToken(trx, token);
};

async function countChildren(trx: Kysely<Database>, makerId: number): Promise<number> {
  const { count } = await trx
    .selectFrom('tokens')
    .select((column) => column.fn.countAll<number>().as('count'))
    .where('maker_id', '=', makerId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * Deletes a key of a user. `by` is the key that the call is made with, which must be the key itself or a key that it was
 * created with, directly or through others; null: any key of the user may. `change` is recorded where an admin key
 * deletes it.
 */
export const deleteToken: Command<
  { id: number; userId: number; by: number | null; now: number; change?: Creation },
  'deleted' | 'not_found'
> = async (trx, { id, userId, by, now, change }) => {
  const found = await trx
    .selectFrom('tokens')
    .select('id')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (found === undefined) return 'not_found';
  // For a key with limits, keys that are not of its family do not exist.
  if (by !== null && !(await isInFamily(trx, id, by))) return 'not_found';
  const removed = await removeFamily(trx, id, now);
  // Another process can have deleted it since.
  if (removed.length === 0) return 'not_found';
  if (change !== undefined) {
    const details = { ...change.details, ...descendantsIn(removed, id) };
    await recordChange(trx, { ...change, subject: `token ${id}`, details });
  }
  return 'deleted';
};

/**
 * Deletes a key of any user with all keys that were created with it, or moves these to the key's own creator. False when
 * the key does not exist.
 */
export const revokeToken: Command<{ id: number; keepChildren?: boolean; change: Creation }, boolean> = async (
  trx,
  { id, keepChildren = false, change },
) => {
  // No key is created with it from here on.
  await lockToken(trx, id);
  const moved = keepChildren ? await adoptChildren(trx, id) : [];
  const removed = await removeFamily(trx, id, change.now);
  if (removed.length === 0) return false;
  const details = {
    ...change.details,
    ...(keepChildren && { keep_children: true, moved }),
    ...descendantsIn(removed, id),
  };
  await recordChange(trx, { ...change, subject: `token ${id}`, details });
  return true;
};

/** Names the keys that were deleted with a key, for the record of the change. */
function descendantsIn(removed: readonly number[], id: number): { deleted?: number[] } {
  const deleted = removed.filter((one) => one !== id).toSorted((left, right) => left - right);
  return deleted.length > 0 ? { deleted } : {};
}

export interface TokenFields {
  name?: string | undefined;
  /** 1 enabled, 2 disabled. */
  status?: 1 | 2 | undefined;
  unlimitedQuota?: boolean | undefined;
  /** Unix seconds; -1: never. */
  expiredTime?: number | undefined;
  /** Model ids; null: every model of the group. */
  modelLimits?: readonly string[] | null | undefined;
  /** Addresses and ranges; null: everywhere. */
  allowIps?: readonly string[] | null | undefined;
  /** null: that of its user. */
  group?: string | null | undefined;
  /** Of its own, 0: no limit; null: as the key that it shares with, else as configured. */
  requestsPerMinute?: number | null | undefined;
  sockets?: number | null | undefined;
  /** Has the scope `admin`. */
  adminScope?: boolean | undefined;
  /** May create keys, if each key that it was created with may. */
  canCreateKeys?: boolean | undefined;
}

export type UpdateTokenResult =
  | TokenRecord
  | 'not_found'
  /** The scope `admin` is to be given by a key without admin access. */
  | 'scope_denied'
  /** The scope `admin` is to be given to a key of a user without the role `admin`. */
  | 'user_not_admin'
  /** The key would have the scope `admin` and limits in these fields. */
  | { limits: LimitField[] };

/** Changes the given fields of a key of any user and returns the key. Nothing is changed on a refusal. */
export const updateToken: Command<
  { id: number; set: TokenFields; change: Intent },
  UpdateTokenResult
> = async (trx, { id, set, change }) => {
  await lockToken(trx, id);
  const before = await findToken(trx, id);
  if (before === undefined) return 'not_found';
  const from = fieldsOf(before);
  const to = { ...from, ...given(set) };
  const details = differences(told(from), told(to));
  if (details === undefined) return before;
  if (to.adminScope && !from.adminScope) {
    if (!(await canGiveAdminScope(trx, change.tokenId))) return 'scope_denied';
    if (before.role !== 'admin') return 'user_not_admin';
  }
  if (to.adminScope) {
    const limits = limitsOn({ ...to, allowanceId: before.allowanceId });
    if (limits.length > 0) return { limits };
  }
  await trx
    .updateTable('tokens')
    .set((row) => ({
      name: to.name,
      status: to.status,
      unlimited_quota: to.unlimitedQuota ? 1 : 0,
      expired_time: to.expiredTime,
      model_limits: to.modelLimits === null ? null : JSON.stringify(to.modelLimits),
      allow_ips: to.allowIps === null ? null : JSON.stringify(to.allowIps),
      group_name: to.group,
      requests_per_minute: to.requestsPerMinute,
      sockets: to.sockets,
      admin: to.adminScope ? 1 : 0,
      create_keys: to.canCreateKeys ? 1 : 0,
      lease_epoch: row('lease_epoch', '+', 1),
    }))
    .where('id', '=', id)
    .execute();
  await recordChange(trx, { ...change, subject: `token ${id}`, details });
  const after = await findToken(trx, id);
  if (after === undefined) throw new Error('the token vanished while it was changed');
  return after;
};

function fieldsOf(token: TokenRecord) {
  const { name, status, unlimitedQuota, expiredTime, modelLimits, allowIps, requestsPerMinute, sockets } =
    token;
  const { adminScope, canCreateKeys } = token;
  const limits = { unlimitedQuota, expiredTime, modelLimits, allowIps, requestsPerMinute, sockets };
  return { name, status, group: token.ownGroup, ...limits, adminScope, canCreateKeys };
}

/** In the words of the contract. */
const told = (fields: ReturnType<typeof fieldsOf>) => ({
  name: fields.name,
  status: fields.status,
  unlimited_quota: fields.unlimitedQuota,
  expired_time: fields.expiredTime,
  model_limits: fields.modelLimits,
  allow_ips: fields.allowIps,
  group: fields.group,
  requests_per_minute: fields.requestsPerMinute,
  sockets: fields.sockets,
  admin: fields.adminScope,
  create_keys: fields.canCreateKeys,
});

/** Without what is left out. */
const given = (set: TokenFields) =>
  Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined)) as Partial<
    ReturnType<typeof fieldsOf>
  >;

/** Moves the quota that up to `limit` deleted keys have left to the keys that it was taken from. Returns how many keys. */
export const returnLeftovers: Command<{ limit: number; now: number }, number> = async (
  trx,
  { limit, now },
) => {
  const rows = await trx
    .selectFrom('tokens')
    .select('id')
    .where('deleted_at', 'is not', null)
    .where('funder_id', 'is not', null)
    .where('remain_quota', '>', 0)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  for (const { id } of rows) await returnLeftover(trx, id, now);
  return rows.length;
};
