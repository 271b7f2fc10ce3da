import { type Kysely, sql } from 'kysely';
import type { Database, Role, TokenStatus } from '../schema.ts';
import { statement } from '../statement.ts';

/** A key's record with everything that decides whether it may be used. */
export interface TokenRecord {
  id: number;
  userId: number;
  name: string;
  keyHint: string;
  /** The key's own group, else its user's. */
  group: string;
  /** null: it has its user's group, whichever that is. */
  ownGroup: string | null;
  role: Role;
  /** As stored: expiry and quota are for the reader to judge. */
  status: TokenStatus;
  unlimitedQuota: boolean;
  remainQuota: number;
  usedQuota: number;
  /** Unix seconds; -1: never. */
  expiredTime: number;
  /** Model patterns; null: every model of the group. */
  modelLimits: string[] | null;
  /** Addresses and ranges; null: everywhere. */
  allowIps: string[] | null;
  /** The key whose allowance of requests and sockets it has, mostly itself. */
  allowanceId: number;
  /** Unix seconds. */
  createdTime: number;
}

type TokenRow = Omit<TokenRecord, 'unlimitedQuota' | 'modelLimits' | 'allowIps'> & {
  unlimited: number;
  limits: string | null;
  ips: string | null;
};

const byHash = statement<{ hash: string }, TokenRow>()`
  select t.id, t.user_id as "userId", t.name, t.key_hint as "keyHint",
    coalesce(t.group_name, u.group_name) as "group",
    t.group_name as "ownGroup", u.role, t.status, t.unlimited_quota as unlimited,
    t.remain_quota as "remainQuota", t.used_quota as "usedQuota", t.expired_time as "expiredTime",
    t.model_limits as limits, t.allow_ips as ips,
    coalesce(t.allowance_id, t.id) as "allowanceId", t.created_time as "createdTime"
  from tokens t join users u on u.id = t.user_id
  where t.key_hash = ${'hash'} and t.deleted_at is null`;

/** The token of a key, given the key's hash; a deleted one is not there. Status and expiry are for the caller to judge. */
export async function findTokenByHash(db: Kysely<Database>, hash: string): Promise<TokenRecord | undefined> {
  const row = (await byHash(db, { hash })).rows[0];
  return row === undefined ? undefined : tokenRecord(row);
}

/** The token of a number, unless it was deleted. */
export async function findToken(db: Kysely<Database>, id: number): Promise<TokenRecord | undefined> {
  const row = await tokens(db).where('t.id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : tokenRecord(row);
}

/** Those of some keys that are still there, by their hashes. */
export async function findTokensByHash(
  db: Kysely<Database>,
  hashes: readonly string[],
): Promise<Map<string, TokenRecord>> {
  const rows = await tokens(db).select('t.key_hash').where('t.key_hash', 'in', hashes).execute();
  return new Map(rows.map(({ key_hash: hash, ...row }) => [hash, tokenRecord(row)]));
}

/** A page of a user's keys, the newest first, and how many there are. */
export async function listTokens(
  db: Kysely<Database>,
  { userId, limit, offset }: { userId: number; limit: number; offset: number },
): Promise<{ tokens: TokenRecord[]; total: number }> {
  const { total } = await db
    .selectFrom('tokens')
    .select(sql<number>`count(*)`.as('total'))
    .where('user_id', '=', userId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow();
  if (offset >= total) return { tokens: [], total };
  const rows = await tokens(db)
    .where('t.user_id', '=', userId)
    .orderBy('t.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return { tokens: rows.map(tokenRecord), total };
}

function tokens(db: Kysely<Database>) {
  return db
    .selectFrom('tokens as t')
    .innerJoin('users as u', 'u.id', 't.user_id')
    .select((column) => [
      't.id',
      't.user_id as userId',
      't.name',
      't.key_hint as keyHint',
      column.fn.coalesce('t.group_name', 'u.group_name').as('group'),
      't.group_name as ownGroup',
      'u.role',
      't.status',
      't.unlimited_quota as unlimited',
      't.remain_quota as remainQuota',
      't.used_quota as usedQuota',
      't.expired_time as expiredTime',
      't.model_limits as limits',
      't.allow_ips as ips',
      column.fn.coalesce('t.allowance_id', 't.id').as('allowanceId'),
      't.created_time as createdTime',
    ])
    .where('t.deleted_at', 'is', null);
}

function tokenRecord({ unlimited, limits, ips, ...token }: TokenRow): TokenRecord {
  const list = (text: string | null) => (text === null ? null : (JSON.parse(text) as string[]));
  return { ...token, unlimitedQuota: unlimited === 1, modelLimits: list(limits), allowIps: list(ips) };
}
