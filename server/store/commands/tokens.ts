import { type Kysely, sql } from 'kysely';
import { findToken, type LimitField, limitsOn, type TokenRecord } from '../queries/tokens.ts';
import type { Database } from '../schema.ts';
import { grant, insertToken, madeToken, type NewToken } from './accounts.ts';
import { type Creation, differences, type Intent, recordChange } from './changes.ts';
import type { Command } from './command.ts';
import { canGiveAdminScope, hasCreationRight } from './key-rights.ts';

export type MakeTokenResult =
  | TokenRecord
  | 'insufficient_quota'
  | 'maker_gone'
  /** The maker, or a key that it was created with, may not create keys. */
  | 'creation_denied'
  /** The new key is to have the scope `admin`, and the maker has no admin access. */
  | 'scope_denied';

/**
 * Creates a key with another one, which must exist and be enabled. With `fromMaker` the quota is taken from that key, and
 * the remainder goes back there in the end. `change` is recorded where an admin key creates it.
 */
export const makeToken: Command<
  { token: NewToken & { makerId: number }; fromMaker: boolean; change?: Creation },
  MakeTokenResult
> = async (trx, { token, fromMaker, change }) => {
  const { makerId, remainQuota: amount = 0, now } = token;
  const takes = fromMaker && amount > 0;
  // Locks the maker's row, so that the maker keeps its rights and is not deleted until the key exists.
  await lockToken(trx, makerId);
  if (!(await hasCreationRight(trx, makerId))) return 'creation_denied';
  if (token.adminScope === true && !(await canGiveAdminScope(trx, makerId))) return 'scope_denied';
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
  if (takes) await noteMove(trx, { from: makerId, to: id, amount, now });
  else if (amount > 0)
    await trx
      .insertInto('grants')
      .values(grant(id, amount, now))
      .execute();
  if (change !== undefined) await recordChange(trx, { ...change, subject: `token ${id}` });
  return madeToken(trx, token);
};

/**
 * Deletes a key of a user. `by` is the key that the call is made with, which must be the key itself or a key that it was
 * created with, directly or through others; null: any key of the user may. `change` is recorded where an admin key
 * deletes it.
 */
export const deleteToken: Command<
  { id: number; userId: number; by: number | null; now: number; change?: Creation },
  'deleted' | 'not_found' | 'not_allowed'
> = async (trx, { id, userId, by, now, change }) => {
  const found = await trx
    .selectFrom('tokens')
    .select('id')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (found === undefined) return 'not_found';
  if (by !== null && !(await wasMadeWith(trx, id, by))) return 'not_allowed';
  // Another process can have deleted it since.
  if (!(await removeToken(trx, id, now))) return 'not_found';
  if (change !== undefined) await recordChange(trx, { ...change, subject: `token ${id}` });
  return 'deleted';
};

/** Deletes a key of any user; false when it is not there. */
export const revokeToken: Command<{ id: number; change: Creation }, boolean> = async (
  trx,
  { id, change },
) => {
  const removed = await removeToken(trx, id, change.now);
  if (removed) await recordChange(trx, { ...change, subject: `token ${id}` });
  return removed;
};

/** Deletes a key and gives back what it has left; false when it is not there. */
async function removeToken(trx: Kysely<Database>, id: number, now: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('tokens')
    .set((row) => ({ deleted_at: now, lease_epoch: row('lease_epoch', '+', 1) }))
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await returnLeftover(trx, id, now);
  return true;
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
  /** The key would have the scope `admin` and, of these fields, limits that it does not have now. */
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
    const present = from.adminScope ? limitsOn(before) : [];
    const limits = limitsOn({ ...to, allowanceId: before.allowanceId });
    const added = limits.filter((field) => !present.includes(field));
    if (added.length > 0) return { limits: added };
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

/** Whether a key is `maker`, or was made with it or with one that was made with it, and so on. */
async function wasMadeWith(trx: Kysely<Database>, id: number, maker: number): Promise<boolean> {
  const { rows } = await sql`
    with recursive line (id, maker_id) as (
      select id, maker_id from tokens where id = ${id}
      union
      select t.id, t.maker_id from tokens t join line on t.id = line.maker_id
    )
    select 1 from line where id = ${maker}`.execute(trx);
  return rows.length > 0;
}

/** Gives what deleted keys have left to the keys that it came from, for so many keys, and says for how many. */
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

/** The update that changes nothing locks the row, so that it stays what it says. */
function lockToken(trx: Kysely<Database>, id: number) {
  return trx
    .updateTable('tokens')
    .set((row) => ({ used_quota: row.ref('used_quota') }))
    .where('id', '=', id)
    .returning(['remain_quota', 'funder_id'])
    .executeTakeFirst();
}

export async function returnLeftover(trx: Kysely<Database>, id: number, now: number): Promise<void> {
  const left = await lockToken(trx, id);
  if (left === undefined) throw new Error('the key is not there whose quota goes back');
  const { remain_quota: amount, funder_id: to } = left;
  if (to === null || amount <= 0) return;
  await add(trx, id, -amount);
  await add(trx, to, amount);
  await noteMove(trx, { from: id, to, amount, now });
}

async function add(trx: Kysely<Database>, id: number, amount: number): Promise<void> {
  await trx
    .updateTable('tokens')
    .set((row) => ({ remain_quota: row('remain_quota', '+', amount) }))
    .where('id', '=', id)
    .execute();
}

async function noteMove(
  trx: Kysely<Database>,
  { from, to, amount, now }: { from: number; to: number; amount: number; now: number },
): Promise<void> {
  await trx
    .insertInto('grants')
    .values([grant(from, -amount, now, to), grant(to, amount, now, from)])
    .execute();
}
