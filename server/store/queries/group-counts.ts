import { sql } from 'kysely';
import type { Db } from '../schema.ts';

/** Users of a group, and keys with this group of their own, without deleted ones. */
type GroupCount = { name: string; users: number; keys: number };

/** Counts the users and keys of each group that has any. */
export async function countGroups(db: Db): Promise<GroupCount[]> {
  const { rows } = await sql<GroupCount>`
    select name, sum(users) as users, sum(keys) as keys from (
      select group_name as name, count(*) as users, 0 as keys from users group by group_name
      union all
      select group_name, 0, count(*) from tokens where deleted_at is null and group_name is not null
      group by group_name
    ) as counts group by name`.execute(db);
  return rows;
}
