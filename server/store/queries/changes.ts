import { type Kysely, sql } from 'kysely';
import type { ChangesTable, Database } from '../schema.ts';

/** What changes are asked for. Times are epoch milliseconds. */
export interface ChangeFilter {
  action?: string | undefined;
  subject?: string | undefined;
  userId?: number | undefined;
  /** At that time or later. */
  since?: number | undefined;
  /** Before that time. */
  until?: number | undefined;
}

export type FoundChange = Omit<ChangesTable, 'id'> & { id: number; user_name: string };

/** A page of what admins have changed, the newest first, and how much there is. */
export async function listChanges(
  db: Kysely<Database>,
  { limit, offset, ...filter }: ChangeFilter & { limit: number; offset: number },
): Promise<{ changes: FoundChange[]; total: number }> {
  const found = matching(db, filter);
  const { total } = await found.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  if (offset >= total) return { changes: [], total };
  const changes = await found
    .leftJoin('users as u', 'u.id', 'c.user_id')
    .select((column) => column.fn.coalesce('u.name', sql<string>`''`).as('user_name'))
    .select(['c.id', 'c.user_id', 'c.token_id', 'c.action', 'c.subject', 'c.details', 'c.created_at'])
    .orderBy('c.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return { changes, total };
}

function matching(db: Kysely<Database>, { action, subject, userId, since, until }: ChangeFilter) {
  let query = db.selectFrom('changes as c');
  if (action !== undefined) query = query.where('c.action', '=', action);
  if (subject !== undefined) query = query.where('c.subject', '=', subject);
  if (userId !== undefined) query = query.where('c.user_id', '=', userId);
  if (since !== undefined) query = query.where('c.created_at', '>=', since);
  if (until !== undefined) query = query.where('c.created_at', '<', until);
  return query;
}
