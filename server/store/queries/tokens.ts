import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db, MemberRole, Role, TokenStatus } from '../schema.ts';
import { countRows, statement } from '../statement.ts';
import { leftFragment, leftOf } from './leases.ts';
import { descendantsOfEnded, findLineages, type Lineage, noLineage, seenBy } from './lineage.ts';
import { pageByName } from './names.ts';
import type { Viewer } from './visibility.ts';
import { walletBalanceFragment } from './wallets.ts';

/** The fields of a key that can be changed. */
export interface TokenSettings {
  name: string;
  /** As stored. The caller checks expiry and quota. */
  status: TokenStatus;
  unlimitedQuota: boolean;
  /** Unix seconds; -1: never. */
  expiredTime: number;
  /** Model patterns; null: every model of the group. */
  modelLimits: readonly string[] | null;
  /** Addresses and ranges; null: all addresses. */
  allowIps: readonly string[] | null;
  /** Its own limits, 0: none; null: the limit of the key that it shares with, or of the configuration. */
  requestsPerMinute: number | null;
  sockets: number | null;
  /** Has the scope `admin`, which is in effect if `hasAdminAccess`. */
  adminScope: boolean;
  /** Can create keys, if each of its ancestors can. */
  canCreateKeys: boolean;
}

/** A key with all data that decides whether it is accepted. */
export interface TokenRecord extends TokenSettings {
  id: number;
  userId: number;
  userName: string;
  /** The customer of the sub-account that has the key; null: it is of no sub-account. */
  parentId: number | null;
  keyHint: string;
  /** The key's own group, else its user's. */
  group: string;
  /** null: it has its user's group. */
  ownGroup: string | null;
  role: Role;
  /** Its user or the customer of its sub-account is disabled, so that the key is refused, whatever its status. */
  userDisabled: boolean;
  /** Whether a budget covers it. */
  hasBudget: boolean;
  /** Whether a wallet pays. `remainQuota` is only a limit then. */
  hasWallet: boolean;
  /** Whether this wallet is empty, so that no key of it can pay. */
  hasEmptyWallet: boolean;
  /** Available quota, including leased quota. */
  remainQuota: number;
  usedQuota: number;
  /** Cost of finished work that no quota covered. */
  debt: number;
  /** The key whose limits of requests and sockets it shares; null: none. */
  allowanceId: number | null;
  /** The key that it was created with; null: none. */
  makerId: number | null;
  lineage: Lineage;
  /** The member of the user who has the key; null: the user itself. */
  memberId: number | null;
  memberRole: MemberRole | null;
  /** Whether it is the session key of its user or member. */
  isSession: boolean;
  /** Unix seconds. */
  createdTime: number;
}

/** Returns the limits of a key, as names of the contract's fields. Allowed addresses are no limit. A session key has none. */
export function limitsOn(token: TokenLimits): LimitField[] {
  if (token.isSession === true) return [];
  const { unlimitedQuota, modelLimits, expiredTime, requestsPerMinute, sockets, allowanceId } = token;
  const limits: Record<LimitField, boolean> = {
    unlimited_quota: !unlimitedQuota,
    model_limits: modelLimits !== null,
    expired_time: expiredTime !== -1,
    // A key that shares limits has those of the other key.
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
type TokenLimits = Pick<TokenRecord, 'unlimitedQuota' | 'modelLimits' | 'expiredTime' | 'allowanceId'> &
  Pick<TokenRecord, 'requestsPerMinute' | 'sockets'> &
  Partial<Pick<TokenRecord, 'isSession'>>;

/**
 * Whether a key sees only itself and its descendants: it has a limit of quota, models, time, requests or sockets, or belongs to a
 * developer. A key of a billing member makes no calls and sees what its user spends, whatever its limits.
 */
export function hasLimits(token: TokenLimits & Pick<TokenRecord, 'memberRole'>): boolean {
  if (token.memberRole === 'billing') return false;
  return token.memberRole === 'developer' || limitsOn(token).length > 0;
}

/** Whether a key can call admin operations. The role of the user alone gives no access. */
export const hasAdminAccess = (token: TokenRecord): boolean =>
  token.adminScope &&
  token.role === 'admin' &&
  token.memberId === null &&
  !token.isSession &&
  !token.userDisabled &&
  !hasLimits(token);

type TokenRow = Omit<
  TokenRecord,
  | 'lineage'
  | 'unlimitedQuota'
  | 'hasWallet'
  | 'hasEmptyWallet'
  | 'hasBudget'
  | 'modelLimits'
  | 'allowIps'
  | 'userDisabled'
  | 'adminScope'
  | 'canCreateKeys'
  | 'isSession'
> & {
  walletId: number | null;
  walletBalance: number | null;
  budgeted: number;
  admin: number;
  createKeys: number;
  session: number;
  disabledAt: number | null;
  unlimited: number;
  limits: string | null;
  ips: string | null;
  hash?: string;
};

const walletLeft = `(select ${walletBalanceFragment.fragment} from wallets w where w.user_id = t.wallet_id)`;

/** The columns of a `TokenRow`. */
const columns = `
  t.id, t.user_id as "userId", u.name as "userName", t.name, t.key_hint as "keyHint",
  coalesce(t.group_name, u.group_name) as "group", t.group_name as "ownGroup", u.role, u.parent_id as "parentId",
  coalesce(u.disabled_at, p.disabled_at) as "disabledAt",
  t.status, t.unlimited_quota as unlimited, t.wallet_id as "walletId", ${walletLeft} as "walletBalance", t.budgeted, ${leftFragment('t').fragment} as "remainQuota", t.used_quota as "usedQuota",
  t.debt, t.expired_time as "expiredTime", t.model_limits as limits, t.allow_ips as ips,
  t.allowance_id as "allowanceId", t.requests_per_minute as "requestsPerMinute", t.sockets, t.admin,
  t.create_keys as "createKeys", t.member_id as "memberId", t.member_role as "memberRole", t.maker_id as "makerId", t.session, t.created_time as "createdTime"`;
const tables = 'tokens t join users u on u.id = t.user_id left join users p on p.id = u.parent_id';

const byHash = statement<{ hash: string }, TokenRow>()`
  select ${{ fragment: columns }} from ${{ fragment: tables }}
  where t.key_hash = ${'hash'} and t.deleted_at is null`;

/** Finds a key by its hash, unless it was deleted. The caller checks status and expiry. */
export async function findTokenByHash(db: Db, hash: string): Promise<TokenRecord | undefined> {
  return (await tokenRecords(db, (await byHash(db, { hash })).rows))[0];
}

/** Finds a key by its id, unless it was deleted. */
export async function findToken(db: Db, id: number): Promise<TokenRecord | undefined> {
  const [token] = (await tokensWhere(db, sql`t.id = ${id}`)).values();
  return token;
}

/** Finds keys by their hashes, except deleted ones. */
export async function findTokensByHash(db: Db, hashes: readonly string[]): Promise<Map<string, TokenRecord>> {
  return tokensWhere(db, sql`t.key_hash in (${sql.join(hashes)})`);
}

/** The limits of requests and sockets of a key, which all keys that share them use together. */
export interface Allowance {
  tokenId: number;
  /** 0: no limit; null: no limit of its own. */
  requestsPerMinute: number | null;
  sockets: number | null;
}

/** Returns the limits that apply to a key, its own first. Each further one is shared by more keys. */
export async function findAllowances(db: Db, token: TokenRecord): Promise<Allowance[]> {
  const own = { tokenId: token.id, requestsPerMinute: token.requestsPerMinute, sockets: token.sockets };
  if (token.allowanceId === null) return [own];
  const { rows } = await allowances(db, { id: token.allowanceId });
  return [own, ...rows.map(({ depth: _, ...allowance }) => allowance)];
}

// Including those of deleted keys, whose limits still apply.
const allowances = statement<{ id: number }, Allowance & { depth: number }>()`
  with recursive line (id, next_id, requests_per_minute, sockets, depth) as (
    select id, allowance_id, requests_per_minute, sockets, 1 from tokens where id = ${'id'}
    union all
    select t.id, t.allowance_id, t.requests_per_minute, t.sockets, line.depth + 1
      from tokens t join line on t.id = line.next_id
  )
  select id as "tokenId", requests_per_minute as "requestsPerMinute", sockets, depth from line order by depth`;

/** Returns a page of the keys that a viewer sees, the newest first, and the number of keys on all pages. */
export async function listTokens(
  db: Db,
  { userId, family, limit, offset }: Viewer & { limit: number; offset: number },
): Promise<{ tokens: TokenRecord[]; total: number }> {
  const isSeen = family === undefined ? sql`1 = 1` : sql`t.id in ${seenBy(family)}`;
  const condition = sql<SqlBool>`t.user_id = ${userId} and ${isSeen}`;
  const found = db.selectFrom('tokens as t').where('t.deleted_at', 'is', null).where(condition);
  const total = await countRows(found);
  if (offset >= total) return { tokens: [], total };
  const tokens = await tokensWhere(db, condition, sql`limit ${limit} offset ${offset}`);
  return { tokens: [...tokens.values()], total };
}

interface TokenSearch {
  userId?: number | undefined;
  /** Part of the name, ignoring case; empty: any name. */
  name: string;
  /** The status at the time `now`. */
  status?: TokenStatus | undefined;
  /** The key's own group, else its user's. */
  group?: string | undefined;
  /** Epoch milliseconds. */
  now: number;
  offset: number;
  limit: number;
}

/** Returns a page of the keys of all users, the newest first, and the number of keys on all pages. */
export async function searchTokens(
  db: Db,
  { name, offset, limit, ...filter }: TokenSearch,
): Promise<{ tokens: TokenRecord[]; total: number }> {
  const found = matching(db, filter).select(['t.id', 't.name']).orderBy('t.id', 'desc');
  const { page, total } = await pageByName(found, { name, offset, limit });
  return { tokens: await tokensOf(db, page), total };
}

function matching(
  db: Db,
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
  const spendable = sql<SqlBool>`(t.unlimited_quota = 1 or ${leftOf('t')} > 0)
    and coalesce(${sql.raw(walletLeft)}, 1) > 0`;
  return query.where(status === 1 ? sql<SqlBool>`(${spendable})` : sql<SqlBool>`not (${spendable})`);
}

/** Reads keys by their ids, the newest first. */
async function tokensOf(db: Db, keys: readonly { id: number }[]): Promise<TokenRecord[]> {
  if (keys.length === 0) return [];
  const tokens = await tokensWhere(db, sql`t.id in (${sql.join(keys.map(({ id }) => id))})`);
  return [...tokens.values()];
}

/** Reads keys, the newest first, by their hashes. */
async function tokensWhere(
  db: Db,
  condition: RawBuilder<unknown>,
  limit = sql``,
): Promise<Map<string, TokenRecord>> {
  const { rows } = await sql<TokenRow & { hash: string }>`
    select ${sql.raw(columns)}, t.key_hash as hash from ${sql.raw(tables)}
    where t.deleted_at is null and ${condition} order by t.id desc ${limit}`.execute(db);
  const tokens = await tokenRecords(db, rows);
  return new Map(tokens.map((token, index) => [rows[index]?.hash ?? '', token]));
}

/** Adds the lineages of keys. */
async function tokenRecords(db: Db, rows: readonly TokenRow[]): Promise<TokenRecord[]> {
  const makerIds = new Set(rows.flatMap(({ makerId }) => makerId ?? []));
  const lineages = await findLineages(db, [...makerIds]);
  return rows.map((row) => tokenRecord(row, row.makerId === null ? undefined : lineages.get(row.makerId)));
}

function tokenRecord(
  {
    unlimited,
    walletId,
    walletBalance,
    budgeted,
    limits,
    ips,
    disabledAt,
    admin,
    createKeys,
    session,
    hash: _,
    ...token
  }: TokenRow,
  lineage: Lineage = noLineage,
): TokenRecord {
  const list = (text: string | null) => (text === null ? null : (JSON.parse(text) as string[]));
  return {
    ...token,
    lineage,
    userDisabled: disabledAt !== null,
    unlimitedQuota: unlimited === 1,
    hasWallet: walletId !== null,
    hasEmptyWallet: walletBalance !== null && walletBalance <= 0,
    hasBudget: budgeted > 0,
    // With a wallet, work can have cost more than the limit.
    remainQuota: Math.max(0, token.remainQuota),
    modelLimits: list(limits),
    allowIps: list(ips),
    adminScope: admin === 1,
    canCreateKeys: createKeys === 1,
    isSession: session === 1,
  };
}
