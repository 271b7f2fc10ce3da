import { type Kysely, sql } from 'kysely';
import { migrations } from './migrations/all.ts';
import { type Engine, migrationContext } from './migrations/migration.ts';
import type { Database } from './schema.ts';

/** Any fixed number: advisory locks are per database, and nothing else of ours takes one of this kind. */
const migrationLock = 7_236_548_104;

/**
 * Brings the schema up to date, all in one transaction, so that a kill leaves the old schema or the new one.
 * Several processes may do it at once. Not Kysely's Migrator: that one reads the catalogue of the whole
 * database, every schema of it, before it takes its lock, and uses no transaction on SQLite.
 *
 * @throws when the database was written by a newer version.
 */
export async function migrate(store: Kysely<Database>, engine: Engine, schema?: string): Promise<void> {
  const transaction = store.transaction().setIsolationLevel('read committed');
  await transaction.execute(async (trx) => {
    const db = trx as unknown as Kysely<unknown>;
    if (engine === 'postgres') await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(db);
    if (schema !== undefined) await db.schema.createSchema(schema).ifNotExists().execute();
    await db.schema
      .createTable('schema_migrations')
      .ifNotExists()
      .addColumn('name', 'text', (col) => col.primaryKey())
      .addColumn('applied_at', 'bigint', (col) => col.notNull())
      .execute();
    const { rows } = await sql<{ name: string }>`select name from schema_migrations`.execute(db);
    const applied = new Set(rows.map((row) => row.name));
    const unknown = [...applied].filter((name) => !migrations.some((migration) => migration.name === name));
    if (unknown.length > 0) {
      throw new Error(
        `the database was written by a newer version: it has the migration ${unknown.join(', ')}`,
      );
    }
    for (const { name, run } of migrations.filter((migration) => !applied.has(migration.name))) {
      await run(db, migrationContext(engine));
      await sql`insert into schema_migrations (name, applied_at) values (${name}, ${Date.now()})`.execute(db);
    }
  });
}
