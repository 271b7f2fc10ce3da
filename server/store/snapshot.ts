import { sql } from 'kysely';
import type { Db } from './schema.ts';
import { isPostgres } from './statement.ts';

/** Runs queries in one snapshot of the database, on a separate connection. */
export function inSnapshot<T>(db: Db, use: (db: Db) => Promise<T>): Promise<T> {
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
