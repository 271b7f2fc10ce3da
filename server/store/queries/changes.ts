import { type Kysely, sql } from 'kysely';
import type { ChangeCause, ChangesTable, Database } from '../schema.ts';

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

export type FoundChange = Omit<ChangesTable, 'id' | 'cause' | 'user_id' | 'token_id'> & {
  id: number;
  cause: ChangeCause;
  /** Null: no admin requested the change. */
  user_id: number | null;
  token_id: number | null;
  user_name: string;
};

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
    .select([
      'c.id',
      'c.user_id',
      'c.token_id',
      'c.cause',
      'c.action',
      'c.subject',
      'c.details',
      'c.created_at',
    ])
    .orderBy('c.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  const byNobody = (id: number) => (id === 0 ? null : id);
  return {
    changes: changes.map((change) => ({
      ...change,
      user_id: byNobody(change.user_id),
      token_id: byNobody(change.token_id),
    })),
    total,
  };
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
