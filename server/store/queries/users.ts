import { type Kysely, sql } from 'kysely';
import type { Database, Role } from '../schema.ts';
import { leftOf } from './leases.ts';
import { having } from './names.ts';

/** A user, with what its keys come to that are not deleted. */
export interface UserRecord {
  id: number;
  name: string;
  group: string;
  role: Role;
  disabled: boolean;
  /** Epoch milliseconds. */
  createdAt: number;
  keys: number;
  /** Of the keys with a limit. */
  remainQuota: number;
  usedQuota: number;
}

export interface UserSearch {
  /** Text in the name, whether in upper or lower case; empty: any name. */
  name: string;
  group?: string | undefined;
  offset: number;
  limit: number;
}

/** A page of the users, the newest first, and how many there are. */
export async function searchUsers(
  db: Kysely<Database>,
  { name, group, offset, limit }: UserSearch,
): Promise<{ users: UserRecord[]; total: number }> {
  let all = db.selectFrom('users as u');
  if (group !== undefined) all = all.where('u.group_name', '=', group);
  if (name === '') {
    const { total } = await all.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
    if (offset >= total) return { users: [], total };
    const page = await all.select('u.id').orderBy('u.id', 'desc').limit(limit).offset(offset).execute();
    return { users: await usersOf(db, page), total };
  }
  const named = await all.select(['u.id', 'u.name']).orderBy('u.id', 'desc').execute();
  const found = having(name, named);
  return { users: await usersOf(db, found.slice(offset, offset + limit)), total: found.length };
}

export async function findUser(db: Kysely<Database>, id: number): Promise<UserRecord | undefined> {
  return (await usersOf(db, [{ id }]))[0];
}

/** Those of some numbers, the newest first. */
async function usersOf(db: Kysely<Database>, which: readonly { id: number }[]): Promise<UserRecord[]> {
  if (which.length === 0) return [];
  const ids = which.map(({ id }) => id);
  const rows = await db
    .selectFrom('users as u')
    .select(['u.id', 'u.name', 'u.group_name', 'u.role', 'u.disabled_at', 'u.created_at'])
    .where('u.id', 'in', ids)
    .orderBy('u.id', 'desc')
    .execute();
  // As fractions, since the sum of many large numbers is beyond what an integer of the database holds.
  const sums = await db
    .selectFrom('tokens')
    .select(['user_id', sql<number>`count(*)`.as('keys')])
    .select(sql<number>`sum(cast(used_quota as double precision))`.as('used'))
    .select(
      sql<number>`sum(case when unlimited_quota = 0 then cast(${leftOf('tokens')} as double precision) else 0 end)`.as(
        'remain',
      ),
    )
    .where('user_id', 'in', ids)
    .where('deleted_at', 'is', null)
    .groupBy('user_id')
    .execute();
  const byUser = new Map(sums.map((sum) => [sum.user_id, sum]));
  return rows.map((row) => {
    const sum = byUser.get(row.id);
    return {
      id: row.id,
      name: row.name,
      group: row.group_name,
      role: row.role,
      disabled: row.disabled_at !== null,
      createdAt: row.created_at,
      keys: sum?.keys ?? 0,
      remainQuota: sum?.remain ?? 0,
      usedQuota: sum?.used ?? 0,
    };
  });
}
