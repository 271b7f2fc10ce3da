import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';

export interface GroupCount {
  name: string;
  /** Users whose group it is. */
  users: number;
  /** Keys that name it themselves, which are not deleted. */
  keys: number;
}

/** How many name each group; groups that nobody names are not there. */
export async function countGroups(db: Kysely<Database>): Promise<GroupCount[]> {
  const count = sql<number>`count(*)`.as('count');
  const users = await db
    .selectFrom('users')
    .select(['group_name as name', count])
    .groupBy('group_name')
    .execute();
  const keys = await db
    .selectFrom('tokens')
    .select(['group_name as name', count])
    .where('deleted_at', 'is', null)
    .where('group_name', 'is not', null)
    .groupBy('group_name')
    .execute();
  const counts = new Map<string, GroupCount>();
  const of = (name: string | null) =>
    counts.getOrInsertComputed(name ?? '', (added) => ({ name: added, users: 0, keys: 0 }));
  for (const row of users) of(row.name).users = row.count;
  for (const row of keys) of(row.name).keys = row.count;
  return [...counts.values()];
}
