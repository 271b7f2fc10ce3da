import { type Kysely, sql } from 'kysely';
import { findToken, type TokenRecord } from '../queries/tokens.ts';
import type { Database } from '../schema.ts';
import { grant, insertToken, madeToken, type NewToken } from './accounts.ts';
import { type Creation, differences, type Intent, recordChange } from './changes.ts';
import type { Command } from './command.ts';

export type MakeTokenResult = TokenRecord | 'insufficient_quota' | 'maker_gone';

/**
 * Makes a key with another one, which must be there still. With `fromMaker` its quota is taken from that key, and
 * what is left of it goes back there in the end.
 */
export const makeToken: Command<
  { token: NewToken & { makerId: number }; fromMaker: boolean },
  MakeTokenResult
> = async (trx, { token, fromMaker }) => {
  const { makerId, remainQuota: amount = 0, now } = token;
  const takes = fromMaker && amount > 0;
  // It locks the maker's row, so that the maker is not deleted meanwhile.
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
  return madeToken(trx, token);
};

/**
 * Deletes a key of a user. `by` is the key that it is done with, which must be the key itself or one that the key was
 * made with, directly or through others; null: any key of the user may.
 */
export const deleteToken: Command<
  { id: number; userId: number; by: number | null; now: number },
  'deleted' | 'not_found' | 'not_allowed'
> = async (trx, { id, userId, by, now }) => {
  const found = await trx
    .selectFrom('tokens')
    .select('id')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (found === undefined) return 'not_found';
  if (by !== null && !(await wasMadeWith(trx, id, by))) return 'not_allowed';
  // False: another process was faster.
  return (await removeToken(trx, id, now)) ? 'deleted' : 'not_found';
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
}

/** Changes what is given of a key of any user, and gives the key as it is then. */
export const updateToken: Command<
  { id: number; set: TokenFields; change: Intent },
  TokenRecord | 'not_found'
> = async (trx, { id, set, change }) => {
  await lockToken(trx, id);
  const before = await findToken(trx, id);
  if (before === undefined) return 'not_found';
  const from = fieldsOf(before);
  const to = { ...from, ...given(set) };
  const details = differences(told(from), told(to));
  if (details === undefined) return before;
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
  const limits = { unlimitedQuota, expiredTime, modelLimits, allowIps, requestsPerMinute, sockets };
  return { name, status, group: token.ownGroup, ...limits };
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
