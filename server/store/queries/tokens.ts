import type { Kysely } from 'kysely';
import type { Database, TokenStatus } from '../schema.ts';
import { statement } from '../statement.ts';

/** A key's record with everything that decides whether it may be used. */
export interface TokenRecord {
  id: number;
  userId: number;
  name: string;
  keyHint: string;
  /** The key's own group, else its user's. */
  group: string;
  status: TokenStatus;
  unlimitedQuota: boolean;
  remainQuota: number;
  usedQuota: number;
  /** Unix seconds; -1: never. */
  expiredTime: number;
  /** Model patterns; null: every model of the group. */
  modelLimits: string[] | null;
  /** Unix seconds. */
  createdTime: number;
}

interface TokenRow {
  id: number;
  user_id: number;
  name: string;
  key_hint: string;
  group_name: string;
  status: TokenStatus;
  unlimited_quota: number;
  remain_quota: number;
  used_quota: number;
  expired_time: number;
  model_limits: string | null;
  created_time: number;
}

const byHash = statement<{ hash: string }, TokenRow>()`
  select t.id, t.user_id, t.name, t.key_hint, coalesce(t.group_name, u.group_name) as group_name, t.status,
    t.unlimited_quota, t.remain_quota, t.used_quota, t.expired_time, t.model_limits, t.created_time
  from tokens t join users u on u.id = t.user_id
  where t.key_hash = ${'hash'}`;

/** The token of a key, given the key's hash. Status and expiry are for the caller to judge. */
export async function findTokenByHash(db: Kysely<Database>, hash: string): Promise<TokenRecord | undefined> {
  const row = (await byHash(db, { hash })).rows[0];
  return row === undefined ? undefined : tokenRecord(row);
}

function tokenRecord(row: TokenRow): TokenRecord {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    keyHint: row.key_hint,
    group: row.group_name,
    status: row.status,
    unlimitedQuota: row.unlimited_quota === 1,
    remainQuota: row.remain_quota,
    usedQuota: row.used_quota,
    expiredTime: row.expired_time,
    modelLimits: row.model_limits === null ? null : (JSON.parse(row.model_limits) as string[]),
    createdTime: row.created_time,
  };
}
