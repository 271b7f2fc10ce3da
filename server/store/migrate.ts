import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { SettingsError } from '../settings/settings-error.ts';
import { isLockTimeout } from './lock-timeout.ts';
import { migrations as released } from './migrations/all.ts';
import type { Engine, Migration } from './migrations/migration.ts';
import type { Database } from './schema.ts';

/** Any fixed number. Advisory locks are per database, and the gateway uses no other lock of this kind. */
const migrationLock = 7_236_548_104;

/** Longest wait of a migration for a table, in milliseconds. Others wait behind it for as long. */
const lockTimeoutMs = 1_000;
/** Pause in which gateways that use the table can continue, in milliseconds. */
const pauseMs = 1_000;
/** A report can lock a table for minutes. */
const maxAttempts = 300;

/**
 * Brings the schema up to date, each migration in a transaction of its own, so a crash leaves a complete schema from which the next
 * start continues. Several processes may migrate at once, beside gateways that use the database. Kysely's Migrator does not fit: it
 * reads the catalog of the whole database before it takes its lock, and uses no transaction on SQLite.
 *
 * @throws SettingsError when the database belongs to a newer or an unreleased version. Nothing is changed then.
 */
export async function migrate(
  store: Kysely<Database>,
  engine: Engine,
  { schema, migrations = released }: { schema?: string | undefined; migrations?: readonly Migration[] } = {},
): Promise<void> {
  for (let attempts = 1; ; ) {
    try {
      if (await isUpToDate(store, engine, { schema, migrations })) return;
    } catch (error) {
      attempts += 1;
      if (!isLockTimeout(error) || attempts > maxAttempts) throw error;
      await sleep(pauseMs);
    }
  }
}

/** Applies the next migration, if there is one. Returns whether there was none. */
async function isUpToDate(
  store: Kysely<Database>,
  engine: Engine,
  { schema, migrations }: { schema: string | undefined; migrations: readonly Migration[] },
): Promise<boolean> {
  const transaction = store.transaction().setIsolationLevel('read committed');
  return transaction.execute(async (trx) => {
    const db = trx as unknown as Kysely<unknown>;
    if (engine === 'postgres') {
      await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(db);
      await sql.raw(`set local lock_timeout = ${lockTimeoutMs}`).execute(db);
    }
    if (schema !== undefined) await db.schema.createSchema(schema).ifNotExists().execute();
    await db.schema
      .createTable('schema_migrations')
      .ifNotExists()
      .addColumn('name', 'text', (col) => col.primaryKey())
      .addColumn('applied_at', 'bigint', (col) => col.notNull())
      .execute();
    const [next] = pendingMigrations(await appliedMigrations(db), migrations);
    if (next === undefined) return true;
    await next.run(db, engine);
    await sql`insert into schema_migrations (name, applied_at) values (${next.name}, ${Date.now()})`.execute(
      db,
    );
    return false;
  });
}

/** Names of the migrations that a database has. */
export async function appliedMigrations(db: Kysely<unknown>): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`select name from schema_migrations`.execute(db);
  return new Set(rows.map(({ name }) => name));
}

/**
 * Returns the migrations that a database lacks, in order.
 *
 * @throws SettingsError when it has one that this version does not know
 */
export function pendingMigrations(
  applied: ReadonlySet<string>,
  migrations: readonly Migration[] = released,
): readonly Migration[] {
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = [...applied].filter((name) => !known.has(name)).sort();
  const [first] = migrations;
  if (unknown.length > 0 && first !== undefined && !applied.has(first.name))
    throw new SettingsError(
      'The database was created by an unreleased version, which no release can read: use an empty DATA_DIR or PostgreSQL schema.',
    );
  if (unknown.length > 0)
    throw new SettingsError(
      `The database was written by a newer version: it has the migration ${unknown.join(', ')}.`,
    );
  return migrations.filter(({ name }) => !applied.has(name));
}
