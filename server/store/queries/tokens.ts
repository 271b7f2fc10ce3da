import { type Kysely, type SqlBool, sql } from 'kysely';
import type { Database, Role, TokenStatus } from '../schema.ts';
import { statement } from '../statement.ts';
import { leftIn, leftOf } from './leases.ts';
import { descendantsOfEnded, familyOf, findLineages, type Lineage, noLineage } from './lineage.ts';
import { having } from './names.ts';
import type { Viewer } from './visibility.ts';

/** A key's record with everything that decides whether it may be used. */
export interface TokenRecord {
  id: number;
  userId: number;
  userName: string;
  name: string;
  keyHint: string;
  /** The key's own group, else its user's. */
  group: string;
  /** null: it has its user's group, whichever that is. */
  ownGroup: string | null;
  role: Role;
  /** Then the key is refused whatever its status. */
  userDisabled: boolean;
  /** As stored: expiry and quota are for the reader to judge. */
  status: TokenStatus;
  unlimitedQuota: boolean;
  /** With what gateways have in leases: only what is held for work in the ledger is not in it. */
  remainQuota: number;
  usedQuota: number;
  /** Cost of finished work that no quota covered. */
  debt: number;
  /** Unix seconds; -1: never. */
  expiredTime: number;
  /** Model patterns; null: every model of the group. */
  modelLimits: string[] | null;
  /** Addresses and ranges; null: everywhere. */
  allowIps: string[] | null;
  /** The key whose allowance of requests and sockets it shares; null: none, it has its own. */
  allowanceId: number | null;
  /** Requests a minute and open sockets of its own, 0: no limit; null: it has no figure of its own. */
  requestsPerMinute: number | null;
  sockets: number | null;
  /** Has the scope `admin`, which `hasAdminAccess` judges. */
  adminScope: boolean;
  /** May create keys, if each key that it was created with may. */
  canCreateKeys: boolean;
  /** The key that it was created with; null: none. */
  makerId: number | null;
  lineage: Lineage;
  /** Unix seconds. */
  createdTime: number;
}

/** Names the limits of a key, as the fields of the contract that set them. Bound addresses are no limit. */
export function limitsOn(token: TokenLimits): LimitField[] {
  const { unlimitedQuota, modelLimits, expiredTime, requestsPerMinute, sockets, allowanceId } = token;
  const limits: Record<LimitField, boolean> = {
    unlimited_quota: !unlimitedQuota,
    model_limits: modelLimits !== null,
    expired_time: expiredTime !== -1,
    // A key that shares an allowance is held to the figures of the key it shares with.
    requests_per_minute: (requestsPerMinute ?? 0) > 0 || allowanceId !== null,
    sockets: (sockets ?? 0) > 0,
  };
  return (Object.keys(limits) as LimitField[]).filter((field) => limits[field]);
}

export type LimitField =
  | 'unlimited_quota'
  | 'model_limits'
  | 'expired_time'
  | 'requests_per_minute'
  | 'sockets';
type TokenLimits = Pick<
  TokenRecord,
  'unlimitedQuota' | 'expiredTime' | 'requestsPerMinute' | 'sockets' | 'allowanceId'
> & { modelLimits: readonly string[] | null };

/** Reports whether a key was handed out with a limit of quota, models, time, requests or sockets. */
export const hasLimits = (token: TokenLimits): boolean => limitsOn(token).length > 0;

/** Reports whether a key may call the operations of the operator. The role of the user alone gives no access. */
export const hasAdminAccess = (token: TokenRecord): boolean =>
  token.adminScope && token.role === 'admin' && !token.userDisabled && !hasLimits(token);

type TokenRow = Omit<
  TokenRecord,
  'lineage' | 'unlimitedQuota' | 'modelLimits' | 'allowIps' | 'userDisabled' | 'adminScope' | 'canCreateKeys'
> & {
  admin: number;
  createKeys: number;
  disabledAt: number | null;
  unlimited: number;
  limits: string | null;
  ips: string | null;
};

const byHash = statement<{ hash: string }, TokenRow>()`
  select t.id, t.user_id as "userId", u.name as "userName", t.name, t.key_hint as "keyHint",
    coalesce(t.group_name, u.group_name) as "group",
    t.group_name as "ownGroup", u.role, u.disabled_at as "disabledAt", t.status, t.unlimited_quota as unlimited,
    ${leftIn('t')} as "remainQuota",
    t.used_quota as "usedQuota", t.debt, t.expired_time as "expiredTime",
    t.model_limits as limits, t.allow_ips as ips,
    t.allowance_id as "allowanceId", t.requests_per_minute as "requestsPerMinute", t.sockets,
    t.admin, t.create_keys as "createKeys", t.maker_id as "makerId", t.created_time as "createdTime"
  from tokens t join users u on u.id = t.user_id
  where t.key_hash = ${'hash'} and t.deleted_at is null`;

/** The token of a key, given the key's hash; a deleted one is not there. Status and expiry are for the caller to judge. */
export async function findTokenByHash(db: Kysely<Database>, hash: string): Promise<TokenRecord | undefined> {
  return (await tokenRecords(db, (await byHash(db, { hash })).rows))[0];
}

/** The token of a number, unless it was deleted. */
export async function findToken(db: Kysely<Database>, id: number): Promise<TokenRecord | undefined> {
  return (await tokenRecords(db, await tokens(db).where('t.id', '=', id).execute()))[0];
}

/** Those of some keys that are still there, by their hashes. */
export async function findTokensByHash(
  db: Kysely<Database>,
  hashes: readonly string[],
): Promise<Map<string, TokenRecord>> {
  const rows = await tokens(db).select('t.key_hash').where('t.key_hash', 'in', hashes).execute();
  const found = await tokenRecords(
    db,
    rows.map(({ key_hash: _, ...row }) => row),
  );
  return new Map(
    rows.flatMap(({ key_hash: hash }, index) => {
      const token = found[index];
      return token === undefined ? [] : [[hash, token] as const];
    }),
  );
}

/** What a key may send and hold open at a time. Of the keys that draw on one allowance, all together may. */
export interface Allowance {
  tokenId: number;
  /** 0: no limit; null: no figure of its own. */
  requestsPerMinute: number | null;
  sockets: number | null;
}

/** The allowances that a key draws on, its own first; each lies within the next one. */
export async function findAllowances(db: Kysely<Database>, token: TokenRecord): Promise<Allowance[]> {
  const own = { tokenId: token.id, requestsPerMinute: token.requestsPerMinute, sockets: token.sockets };
  if (token.allowanceId === null) return [own];
  const { rows } = await allowances(db, { id: token.allowanceId });
  return [own, ...rows.map(({ depth: _, ...allowance }) => allowance)];
}

// Those of deleted keys too, since keys made with them go on.
const allowances = statement<{ id: number }, Allowance & { depth: number }>()`
  with recursive line (id, next_id, requests_per_minute, sockets, depth) as (
    select id, allowance_id, requests_per_minute, sockets, 1 from tokens where id = ${'id'}
    union all
    select t.id, t.allowance_id, t.requests_per_minute, t.sockets, line.depth + 1
      from tokens t join line on t.id = line.next_id
  )
  select id as "tokenId", requests_per_minute as "requestsPerMinute", sockets, depth from line order by depth`;

/** A page of the keys that a viewer sees, the newest first, and how many there are. */
export async function listTokens(
  db: Kysely<Database>,
  { userId, family, limit, offset }: Viewer & { limit: number; offset: number },
): Promise<{ tokens: TokenRecord[]; total: number }> {
  const seen = family === undefined ? sql<SqlBool>`1 = 1` : sql<SqlBool>`t.id in ${familyOf(family)}`;
  const { total } = await db
    .selectFrom('tokens as t')
    .select(sql<number>`count(*)`.as('total'))
    .where('t.user_id', '=', userId)
    .where('t.deleted_at', 'is', null)
    .where(seen)
    .executeTakeFirstOrThrow();
  if (offset >= total) return { tokens: [], total };
  const rows = await tokens(db)
    .where('t.user_id', '=', userId)
    .where(seen)
    .orderBy('t.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return { tokens: await tokenRecords(db, rows), total };
}

export interface TokenSearch {
  userId?: number | undefined;
  /** Text in the name, whether in upper or lower case; empty: any name. */
  name: string;
  /** As it is at the moment, which `now` tells. */
  status?: TokenStatus | undefined;
  /** Its own, or that of its user where it has none. */
  group?: string | undefined;
  /** Epoch milliseconds. */
  now: number;
  offset: number;
  limit: number;
}

/** A page of the keys of all users, the newest first, and how many there are. */
export async function searchTokens(
  db: Kysely<Database>,
  { name, offset, limit, ...filter }: TokenSearch,
): Promise<{ tokens: TokenRecord[]; total: number }> {
  const all = matching(db, filter);
  if (name === '') {
    const { total } = await all.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
    if (offset >= total) return { tokens: [], total };
    const page = await all.select('t.id').orderBy('t.id', 'desc').limit(limit).offset(offset).execute();
    return { tokens: await tokensOf(db, page), total };
  }
  const named = await all.select(['t.id', 't.name']).orderBy('t.id', 'desc').execute();
  const found = having(name, named);
  return { tokens: await tokensOf(db, found.slice(offset, offset + limit)), total: found.length };
}

function matching(
  db: Kysely<Database>,
  { userId, status, group, now }: Pick<TokenSearch, 'userId' | 'status' | 'group' | 'now'>,
) {
  let query = db
    .selectFrom('tokens as t')
    .innerJoin('users as u', 'u.id', 't.user_id')
    .where('t.deleted_at', 'is', null);
  if (userId !== undefined) query = query.where('t.user_id', '=', userId);
  if (group !== undefined) query = query.where(sql<string>`coalesce(t.group_name, u.group_name)`, '=', group);
  if (status === undefined) return query;
  const isDisabled = sql<SqlBool>`(t.status = 2 or t.id in ${descendantsOfEnded(sql`m.status <> 1 or m.deleted_at is not null`)})`;
  query = query.where(status === 2 ? isDisabled : sql<SqlBool>`not ${isDisabled}`);
  if (status === 2) return query;
  const seconds = Math.floor(now / 1000);
  const ended = sql<SqlBool>`(t.expired_time <> -1 and t.expired_time <= ${seconds})
    or t.id in ${descendantsOfEnded(sql`m.expired_time <> -1 and m.expired_time <= ${seconds}`)}`;
  query = query.where(status === 3 ? sql<SqlBool>`(${ended})` : sql<SqlBool>`not (${ended})`);
  if (status === 3) return query;
  const spendable = sql<SqlBool>`t.unlimited_quota = 1 or ${leftOf('t')} > 0`;
  return query.where(status === 1 ? sql<SqlBool>`(${spendable})` : sql<SqlBool>`not (${spendable})`);
}

/** Those of some numbers, the newest first. */
async function tokensOf(db: Kysely<Database>, which: readonly { id: number }[]): Promise<TokenRecord[]> {
  if (which.length === 0) return [];
  const ids = which.map(({ id }) => id);
  const rows = await tokens(db).where('t.id', 'in', ids).orderBy('t.id', 'desc').execute();
  return tokenRecords(db, rows);
}

function tokens(db: Kysely<Database>) {
  return db
    .selectFrom('tokens as t')
    .innerJoin('users as u', 'u.id', 't.user_id')
    .select((column) => [
      't.id',
      't.user_id as userId',
      'u.name as userName',
      't.name',
      't.key_hint as keyHint',
      column.fn.coalesce('t.group_name', 'u.group_name').as('group'),
      't.group_name as ownGroup',
      'u.role',
      'u.disabled_at as disabledAt',
      't.status',
      't.unlimited_quota as unlimited',
      leftOf('t').as('remainQuota'),
      't.used_quota as usedQuota',
      't.debt',
      't.expired_time as expiredTime',
      't.model_limits as limits',
      't.allow_ips as ips',
      't.allowance_id as allowanceId',
      't.requests_per_minute as requestsPerMinute',
      't.sockets',
      't.admin',
      't.create_keys as createKeys',
      't.maker_id as makerId',
      't.created_time as createdTime',
    ])
    .where('t.deleted_at', 'is', null);
}

/** Completes rows of keys with what they inherit from the keys that they were created with. */
async function tokenRecords(db: Kysely<Database>, rows: readonly TokenRow[]): Promise<TokenRecord[]> {
  const makerIds = new Set(rows.flatMap(({ makerId }) => makerId ?? []));
  const lineages = await findLineages(db, [...makerIds]);
  return rows.map((row) => tokenRecord(row, row.makerId === null ? undefined : lineages.get(row.makerId)));
}

function tokenRecord(
  { unlimited, limits, ips, disabledAt, admin, createKeys, ...token }: TokenRow,
  lineage: Lineage = noLineage,
): TokenRecord {
  const list = (text: string | null) => (text === null ? null : (JSON.parse(text) as string[]));
  return {
    ...token,
    lineage,
    userDisabled: disabledAt !== null,
    unlimitedQuota: unlimited === 1,
    modelLimits: list(limits),
    allowIps: list(ips),
    adminScope: admin === 1,
    canCreateKeys: createKeys === 1,
  };
}
