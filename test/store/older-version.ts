import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { migrations } from '../../server/store/migrations/all.ts';
import { migrationContext } from '../../server/store/migrations/migration.ts';
import { numbersAsNumbers } from '../../server/store/postgres/types.ts';
import { nodeSqliteDialect } from '../../server/store/sqlite/dialect.ts';
import { databaseUrl, onServer, type TestStore } from './engines.ts';

/** Creates the database of the version that has no migration from `firstNew` on. */
export async function createOlderVersion({ engine, options }: TestStore, firstNew: string): Promise<void> {
  const db =
    engine === 'sqlite' ? await openSqlite(options.dataDir) : await openPostgres(options.schema ?? '');
  const old = migrations.slice(
    0,
    migrations.findIndex(({ name }) => name === firstNew),
  );
  for (const { run } of old) await run(db, migrationContext(engine));
  await sql`create table schema_migrations (name text primary key, applied_at bigint not null)`.execute(db);
  for (const { name } of old) await sql`insert into schema_migrations values (${name}, 1)`.execute(db);
  await db.destroy();
}

async function openSqlite(dataDir: string): Promise<Kysely<unknown>> {
  await mkdir(dataDir, { recursive: true });
  const dialect = nodeSqliteDialect(new DatabaseSync(join(dataDir, 'unigate.db')));
  return new Kysely<unknown>({ dialect });
}

async function openPostgres(schema: string): Promise<Kysely<unknown>> {
  await onServer((client) => client.query(`create schema ${schema}`));
  const options = `-c search_path=${schema}`;
  // One connection, since a migration may use temporary tables.
  const pool = new pg.Pool({ connectionString: databaseUrl, options, max: 1, types: numbersAsNumbers });
  return new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
}
