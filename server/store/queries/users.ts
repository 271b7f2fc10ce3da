import { type RawBuilder, sql } from 'kysely';
import { quotaSum } from '../quota-sum.ts';
import type { Db, Role } from '../schema.ts';
import { allOf, equalities } from '../statement.ts';
import { leftOf } from './leases.ts';
import { pageByName } from './names.ts';
import { walletBalance } from './wallets.ts';

/** A user, with the sums of its keys that are not deleted. */
export interface UserRecord {
  id: number;
  name: string;
  group: string;
  role: Role;
  disabled: boolean;
  /** Epoch milliseconds. */
  createdAt: number;
  keys: number;
  /** Available quota of the keys with a limit, or of the wallet. */
  remainQuota: number;
  usedQuota: number;
  hasWallet: boolean;
  /** The customer of a sub-account; null: it is none. */
  parentId: number | null;
}

interface UserSearch {
  /** Part of the name, ignoring case; empty: any name. */
  name: string;
  group?: string | undefined;
  /** Only sub-accounts of this user. */
  parentId?: number | undefined;
  offset: number;
  limit: number;
}

/** Returns a page of the users, the newest first, and the number of users on all pages. */
export async function searchUsers(
  db: Db,
  { name, group, parentId, offset, limit }: UserSearch,
): Promise<{ users: UserRecord[]; total: number }> {
  const found = db
    .selectFrom('users')
    .select(['id', 'name'])
    .where(allOf(equalities({ group_name: group, parent_id: parentId })))
    .orderBy('id', 'desc');
  const { page, total } = await pageByName(found, { name, offset, limit });
  return { users: await usersOf(db, page), total };
}

export async function findUser(db: Db, id: number): Promise<UserRecord | undefined> {
  return (await usersOf(db, [{ id }]))[0];
}

/** Reads users by their ids, the newest first. */
async function usersOf(db: Db, users: readonly { id: number }[]): Promise<UserRecord[]> {
  if (users.length === 0) return [];
  const { rows } = await sql<
    Omit<UserRecord, 'disabled' | 'hasWallet'> & { disabledAt: number | null; balance: number | null }
  >`
    select u.id, u.name, u.group_name as "group", u.role, u.disabled_at as "disabledAt", u.created_at as "createdAt", u.parent_id as "parentId",
      count(t.id) as keys, ${quotaSum(sql`t.used_quota`)} as "usedQuota",
      ${quotaSum(sql`case when t.unlimited_quota = 0 then ${leftOf('t')} end`)} as "remainQuota",
      (select ${walletBalance} from wallets w where w.user_id = u.id) as balance
    from users u left join tokens t on t.user_id = u.id and t.deleted_at is null
    where u.id in (${sql.join(users.map(({ id }) => id))})
    group by u.id order by u.id desc`.execute(db);
  return rows.map(({ disabledAt, balance, remainQuota, ...user }) => ({
    ...user,
    disabled: disabledAt !== null,
    hasWallet: balance !== null,
    remainQuota: balance ?? remainQuota,
  }));
}

/** Ids of a user and of the customer of a sub-account, whose wallet and budgets pay for both. */
export const payersOfUser = (userId: number | RawBuilder<number>): RawBuilder<number> => sql`(
  select id from users where id = ${userId}
  union all select parent_id from users where id = ${userId} and parent_id is not null)`;

/** Ids of a user and its sub-accounts. */
export const idsOfAccounts = (userId: number): RawBuilder<number> =>
  sql`(select id from users where id = ${userId} or parent_id = ${userId})`;

/** Finds the ids of a user and its sub-accounts, the user first. */
export async function accountsOf(db: Db, userId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('users')
    .select('id')
    .where('parent_id', '=', userId)
    .orderBy('id')
    .execute();
  return [userId, ...rows.map(({ id }) => id)];
}

/** Lists the sub-accounts of a user, the oldest first. */
export async function listAccounts(db: Db, userId: number): Promise<UserRecord[]> {
  const [, ...accounts] = await accountsOf(db, userId);
  return (
    await usersOf(
      db,
      accounts.map((id) => ({ id })),
    )
  ).reverse();
}
