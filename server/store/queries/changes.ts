import { type SqlBool, sql } from 'kysely';
import type { ChangesTable, Db } from '../schema.ts';
import { allOf, countRows, equalities } from '../statement.ts';

interface ChangeFilter {
  action?: string | undefined;
  subject?: string | undefined;
  userId?: number | undefined;
  /** Only changes from this time on, in epoch milliseconds. */
  since?: number | undefined;
  /** Only changes before this time. */
  until?: number | undefined;
}

type FoundChange = Omit<ChangesTable, 'id' | 'user_id' | 'token_id'> & {
  id: number;
  /** Null: no admin requested the change. */
  user_id: number | null;
  token_id: number | null;
  user_name: string;
};

/** Returns a page of the changes by admins, the newest first, and the number of changes on all pages. */
export async function listChanges(
  db: Db,
  { limit, offset, action, subject, userId, since, until }: ChangeFilter & { limit: number; offset: number },
): Promise<{ changes: FoundChange[]; total: number }> {
  const conditions = equalities({ 'c.action': action, 'c.subject': subject, 'c.user_id': userId });
  if (since !== undefined) conditions.push(sql<SqlBool>`c.created_at >= ${since}`);
  if (until !== undefined) conditions.push(sql<SqlBool>`c.created_at < ${until}`);
  const found = db.selectFrom('changes as c').where(allOf(conditions));
  const total = await countRows(found);
  if (offset >= total) return { changes: [], total };
  const changes = await found
    .leftJoin('users as u', 'u.id', 'c.user_id')
    .selectAll('c')
    .select((column) => column.fn.coalesce('u.name', sql<string>`''`).as('user_name'))
    .orderBy('c.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  const idOrNull = (id: number) => (id === 0 ? null : id);
  return {
    changes: changes.map((change) => ({
      ...change,
      user_id: idOrNull(change.user_id),
      token_id: idOrNull(change.token_id),
    })),
    total,
  };
}
