import { type Kysely, sql } from 'kysely';
import type { Database } from './schema.ts';
import { isPostgres } from './statement.ts';

/** Runs queries that all see one snapshot of the database, on a connection of their own. */
export function inSnapshot<T>(db: Kysely<Database>, use: (db: Kysely<Database>) => Promise<T>): Promise<T> {
  if (isPostgres(db))
    return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(use);
  return db.connection().execute(async (connection) => {
    await sql`begin`.execute(connection);
    try {
      return await use(connection);
    } finally {
      await sql`rollback`.execute(connection);
    }
  });
}
