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

type TokenRow = Omit<TokenRecord, 'unlimitedQuota' | 'modelLimits'> & {
  unlimited: number;
  limits: string | null;
};

const byHash = statement<{ hash: string }, TokenRow>()`
  select t.id, t.user_id as "userId", t.name, t.key_hint as "keyHint",
    coalesce(t.group_name, u.group_name) as "group", t.status, t.unlimited_quota as unlimited,
    t.remain_quota as "remainQuota", t.used_quota as "usedQuota", t.expired_time as "expiredTime",
    t.model_limits as limits, t.created_time as "createdTime"
  from tokens t join users u on u.id = t.user_id
  where t.key_hash = ${'hash'}`;

/** The token of a key, given the key's hash. Status and expiry are for the caller to judge. */
export async function findTokenByHash(db: Kysely<Database>, hash: string): Promise<TokenRecord | undefined> {
  const row = (await byHash(db, { hash })).rows[0];
  if (row === undefined) return undefined;
  const { unlimited, limits, ...token } = row;
  const modelLimits = limits === null ? null : (JSON.parse(limits) as string[]);
  return { ...token, unlimitedQuota: unlimited === 1, modelLimits };
}
