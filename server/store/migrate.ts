import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { SettingsError } from '../settings/settings-error.ts';
import { isLockTimeout } from './availability.ts';
import { migrations as released } from './migrations/all.ts';
import type { Engine, Migration } from './migrations/migration.ts';
import type { Db } from './schema.ts';

/** Key of the advisory lock, which is per database. */
const migrationLock = 7_236_548_104;

/** Longest wait of a migration for a table lock, in milliseconds. Other statements queue behind it meanwhile. */
const lockTimeoutMs = 1_000;
/** Pause before the next attempt, in which gateways that use the table can continue. */
const pauseMs = 1_000;
/** Enough for a report that locks a table for minutes. */
const maxAttempts = 300;

/**
 * Brings the schema up to date, each migration in a separate transaction. Several processes can migrate at once, while gateways use
 * the database. Kysely's Migrator does not fit: it reads the whole catalog before it takes its lock, and uses no transaction on SQLite.
 *
 * @throws SettingsError when the database belongs to a newer or an unreleased version, in which case nothing changes
 */
export async function migrate(
  store: Db,
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

/** Applies the next pending migration. Returns whether none was pending. */
async function isUpToDate(
  store: Db,
  engine: Engine,
  { schema, migrations }: { schema: string | undefined; migrations: readonly Migration[] },
): Promise<boolean> {
  const transaction = store.transaction().setIsolationLevel('read committed');
  return transaction.execute(async (trx) => {
    const db = trx as unknown as Kysely<unknown>;
    if (engine === 'postgres') {
      await lockMigrations(db);
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

/** Locks a PostgreSQL database against migrations until the end of the transaction. A starting gateway waits for the lock. */
export async function lockMigrations<Tables>(trx: Kysely<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(trx);
}

/** Reads the names of the migrations that were applied to a database. */
export async function appliedMigrations(db: Kysely<unknown>): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`select name from schema_migrations`.execute(db);
  return new Set(rows.map(({ name }) => name));
}

/**
 * Returns the migrations that were not applied, in order.
 *
 * @throws SettingsError when a migration was applied that this version does not have
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
