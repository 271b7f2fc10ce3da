import { sql } from 'kysely';
import { snakeCased } from '../columns.ts';
import { hasCreationRight } from '../queries/lineage.ts';
import {
  findToken,
  type LimitField,
  limitsOn,
  type TokenRecord,
  type TokenSettings,
} from '../queries/tokens.ts';
import type { Db } from '../schema.ts';
import { affectsRow, countRows } from '../statement.ts';
import { grant, insertedToken, insertToken, type NewToken } from './accounts.ts';
import { lockToken } from './balances.ts';
import { type Creation, differences, type Intent, recordChange } from './changes.ts';
import { canGiveAdminScope } from './key-rights.ts';
import { lockMember } from './member-lock.ts';
import {
  adoptChildren,
  isInFamily,
  lockWithFunders,
  recordMove,
  removeFamilies,
  returnLeftover,
} from './revocation.ts';
import { lockUser } from './user-lock.ts';

type CreateTokenResult =
  | TokenRecord
  | 'insufficient_quota'
  | 'maker_gone'
  /** The maker, or one of its ancestors, has no right to create keys. */
  | 'creation_denied'
  /** The new key has the scope `admin`, and its maker has no admin access. */
  | 'scope_denied'
  /** The user of the maker has no such member. */
  | 'no_member'
  /** The maker has `maxKeys` live children already, or the owner of a session that many keys that no other key created. */
  | 'too_many_keys';

/** Creates a key with another one, the maker. `fromMaker`: the quota is taken from the maker, and the remainder returns to it. */
export async function createChildToken(
  trx: Db,
  {
    token,
    fromMaker,
    maxKeys = 0,
    change,
  }: { token: NewToken & { makerId: number }; fromMaker: boolean; maxKeys?: number; change?: Creation },
): Promise<CreateTokenResult> {
  const { makerId, remainQuota: amount = 0, now } = token;
  const takes = fromMaker && amount > 0;
  await lockUser(trx, token.userId, 'shared');
  const member = await memberOfNewKey(trx, token);
  if (member === 'no_member') return member;
  // Locks the maker, so that its rights do not change and it creates one key at a time.
  await lockToken(trx, makerId);
  if (!(await hasCreationRight(trx, makerId))) return 'creation_denied';
  if (token.adminScope === true && !(await canGiveAdminScope(trx, makerId))) return 'scope_denied';
  const isOfSession = await isSessionKey(trx, makerId);
  const countKeys = isOfSession ? countKeysWithoutMaker : countChildren;
  if (maxKeys > 0 && (await countKeys(trx, makerId)) >= maxKeys) return 'too_many_keys';
  const isUsable = sql`id = ${makerId} and deleted_at is null and status = 1`;
  const take = sql`
    update tokens set remain_quota = remain_quota - ${takes ? amount : 0}
    where ${isUsable} ${takes ? sql`and remain_quota >= ${amount}` : sql``}`;
  if (!(await affectsRow(trx, take))) {
    const { rows } = await sql`select 1 from tokens where ${isUsable}`.execute(trx);
    return rows.length === 0 ? 'maker_gone' : 'insufficient_quota';
  }
  // A key outlives the session that it was created with.
  const created = { ...token, ...member, ...(isOfSession && { makerId: null }) };
  const { id } = await insertToken(trx, created, fromMaker ? makerId : null);
  if (takes) await recordMove(trx, { from: makerId, to: id, amount, now });
  else if (amount > 0)
    await trx
      .insertInto('grants')
      .values(grant(id, amount, now))
      .execute();
  if (change !== undefined) await recordChange(trx, { ...change, subject: `token ${id}` });
  return insertedToken(trx, token);
}

/** Locks the member of a new key: the requested one, else that of the maker. */
async function memberOfNewKey(
  trx: Db,
  { userId, makerId, memberId }: Pick<NewToken, 'userId' | 'memberId'> & { makerId: number },
): Promise<Pick<NewToken, 'memberId' | 'memberRole'> | 'no_member'> {
  const requested = memberId ?? null;
  const inherited = requested === null ? await memberIdOf(trx, makerId) : null;
  const id = requested ?? inherited;
  if (id === null) return {};
  const member = await lockMember(trx, { userId, id });
  if (member !== undefined) return { memberId: id, memberRole: member.role };
  // The keys of a removed member are deleted, so that the maker is gone.
  return inherited === null ? 'no_member' : { memberId: id };
}

async function memberIdOf(trx: Db, tokenId: number): Promise<number | null> {
  const row = await trx.selectFrom('tokens').select('member_id').where('id', '=', tokenId).executeTakeFirst();
  return row?.member_id ?? null;
}

function countChildren(trx: Db, makerId: number): Promise<number> {
  return countRows(trx.selectFrom('tokens').where('maker_id', '=', makerId).where('deleted_at', 'is', null));
}

async function isSessionKey(trx: Db, tokenId: number): Promise<boolean> {
  const row = await trx.selectFrom('tokens').select('session').where('id', '=', tokenId).executeTakeFirst();
  return row?.session === 1;
}

/** Number of live keys of the owner of a session key that no other key created. It includes keys that an admin created. */
async function countKeysWithoutMaker(trx: Db, sessionId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from tokens t join tokens s on t.user_id = s.user_id
    where s.id = ${sessionId} and coalesce(t.member_id, 0) = coalesce(s.member_id, 0)
      and t.maker_id is null and t.session = 0 and t.deleted_at is null`.execute(trx);
  return rows[0]?.count ?? 0;
}

/** Deletes a key of a user with its descendants. `by`: the key of the request, which must be the key or an ancestor; null: any. */
export async function deleteToken(
  trx: Db,
  {
    id,
    userId,
    by,
    now,
    change,
  }: { id: number; userId: number; by: number | null; now: number; change?: Creation },
): Promise<'deleted' | 'not_found'> {
  const { rows } = await sql`
    select 1 from tokens where id = ${id} and user_id = ${userId} and deleted_at is null`.execute(trx);
  if (rows.length === 0) return 'not_found';
  // For a key with limits, only its family exists.
  if (by !== null && !(await isInFamily(trx, id, by))) return 'not_found';
  const removed = await removeFamilies(trx, [id], now);
  // A concurrent transaction deleted it.
  if (removed.length === 0) return 'not_found';
  if (change !== undefined) {
    const details = { ...change.details, ...descendantsIn(removed, id) };
    await recordChange(trx, { ...change, subject: `token ${id}`, details });
  }
  return 'deleted';
}

/** Deletes a key with its descendants, or with `keepChildren` moves its children to its creator. False when the key does not exist. */
export async function revokeToken(
  trx: Db,
  { id, keepChildren = false, change }: { id: number; keepChildren?: boolean; change: Creation },
): Promise<boolean> {
  const moved = keepChildren ? await adoptChildren(trx, id) : [];
  const removed = await removeFamilies(trx, [id], change.now);
  if (removed.length === 0) return false;
  const details = {
    ...change.details,
    ...(keepChildren && { keep_children: true, moved }),
    ...descendantsIn(removed, id),
  };
  await recordChange(trx, { ...change, subject: `token ${id}`, details });
  return true;
}

/** Detail of a change: the descendants that were deleted with a key. */
function descendantsIn(removed: readonly number[], id: number): { deleted?: number[] } {
  const deleted = removed.filter((one) => one !== id).toSorted((left, right) => left - right);
  return deleted.length > 0 ? { deleted } : {};
}

/** The fields of a key that an admin can change. `group` null: the user's group. */
type EditableToken = TokenSettings & { group: string | null };

/** New values of the fields of a key. Absent and undefined fields do not change. */
export type TokenFields = { [Field in keyof EditableToken]?: EditableToken[Field] | undefined } & {
  status?: 1 | 2 | undefined;
};

type UpdateTokenResult =
  | TokenRecord
  | 'not_found'
  /** The key of the request has no admin access, and cannot give the scope `admin`. */
  | 'scope_denied'
  /** The user has no role `admin`, so that the key cannot have the scope. */
  | 'user_not_admin'
  /** The key would have the scope `admin` and limits in these fields. */
  | { limits: LimitField[] };

/** Changes fields of a key of any user and returns the key, or the reason why nothing is changed. */
export async function updateToken(
  trx: Db,
  { id, set, change }: { id: number; set: TokenFields; change: Intent },
): Promise<UpdateTokenResult> {
  await lockToken(trx, id);
  const before = await findToken(trx, id);
  if (before === undefined) return 'not_found';
  const from = fieldsOf(before);
  const to = { ...from, ...definedFields(set) };
  const details = differences(contractFields(from), contractFields(to));
  if (details === undefined) return before;
  if (to.adminScope && !from.adminScope) {
    if (!(await canGiveAdminScope(trx, change.tokenId))) return 'scope_denied';
    if (before.role !== 'admin') return 'user_not_admin';
  }
  if (to.adminScope) {
    const limits = limitsOn({ ...to, allowanceId: before.allowanceId });
    if (limits.length > 0) return { limits };
  }
  const json = (list: readonly string[] | null) => (list === null ? null : JSON.stringify(list));
  const { group, ...columns } = contractFields(to);
  await trx
    .updateTable('tokens')
    .set((row) => ({
      ...columns,
      group_name: group,
      unlimited_quota: to.unlimitedQuota ? 1 : 0,
      model_limits: json(to.modelLimits),
      allow_ips: json(to.allowIps),
      admin: to.adminScope ? 1 : 0,
      create_keys: to.canCreateKeys ? 1 : 0,
      lease_epoch: row('lease_epoch', '+', 1),
    }))
    .where('id', '=', id)
    .execute();
  await recordChange(trx, { ...change, subject: `token ${id}`, details });
  const after = await findToken(trx, id);
  if (after === undefined) throw new Error('the updated key does not exist');
  return after;
}

function fieldsOf(token: TokenRecord): EditableToken {
  const { name, status, unlimitedQuota, expiredTime, modelLimits, allowIps, requestsPerMinute, sockets } =
    token;
  const { adminScope, canCreateKeys } = token;
  const limits = { unlimitedQuota, expiredTime, modelLimits, allowIps };
  const group = token.ownGroup;
  return { name, status, ...limits, group, requestsPerMinute, sockets, adminScope, canCreateKeys };
}

/** The fields under their names in the contract. */
function contractFields({ adminScope, canCreateKeys, ...fields }: EditableToken) {
  return { ...snakeCased(fields), admin: adminScope, create_keys: canCreateKeys };
}

const definedFields = (set: TokenFields) =>
  Object.fromEntries(
    Object.entries(set).filter(([, value]) => value !== undefined),
  ) as Partial<EditableToken>;

/** Returns the remaining quota of up to `limit` deleted keys to their funders. Returns the number of keys. */
export async function returnLeftovers(trx: Db, { limit, now }: { limit: number; now: number }) {
  const { rows } = await sql<{ id: number }>`
    select id from tokens where deleted_at is not null and funder_id is not null and remain_quota > 0
    order by id desc limit ${limit}`.execute(trx);
  await lockWithFunders(
    trx,
    rows.map(({ id }) => id),
  );
  for (const { id } of rows) await returnLeftover(trx, id, now);
  return rows.length;
}
