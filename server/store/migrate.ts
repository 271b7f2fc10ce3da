import { setTimeout as pause } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { isLockTimeout } from './lock-timeout.ts';
import { migrations } from './migrations/all.ts';
import { type Engine, migrationContext } from './migrations/migration.ts';
import type { Database } from './schema.ts';

/** Any fixed number: advisory locks are per database, and nothing else of ours takes one of this kind. */
const migrationLock = 7_236_548_104;

/** So long a step waits for a table, and others for it, in milliseconds; then it lets them pass and tries again after a pause. */
const lockTimeoutMs = 1_000;
const pauseMs = 1_000;
/** Reports may keep a table for minutes. */
const tries = 300;

/**
 * Brings the schema up to date, step by step, each in a transaction: a kill or a failure leaves a schema that both the version before and
 * this one go on from. Several processes may do it at once, beside gateways that are at work. Not Kysely's Migrator: that one
 * reads the catalogue of the whole database, every schema of it, before it takes its lock, and uses no transaction on SQLite.
 *
 * @throws when the database was written by a newer version, or a table that is to be changed stays in use.
 */
export async function migrate(store: Kysely<Database>, engine: Engine, schema?: string): Promise<void> {
  for (let left = tries; ; ) {
    try {
      if (await nextSteps(store, engine, schema)) return;
    } catch (error) {
      left -= 1;
      if (!isLockTimeout(error) || left === 0) throw error;
      await pause(pauseMs);
    }
  }
}

/** Runs what comes next in one transaction, and says whether that was all. */
async function nextSteps(store: Kysely<Database>, engine: Engine, schema?: string): Promise<boolean> {
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
    const { rows } = await sql<{ name: string }>`select name from schema_migrations`.execute(db);
    const applied = new Set(rows.map((row) => row.name));
    const unknown = [...applied].filter((name) => !migrations.some((migration) => migration.name === name));
    if (unknown.length > 0) {
      throw new Error(
        `the database was written by a newer version: it has the migration ${unknown.join(', ')}`,
      );
    }
    const pending = migrations.filter(({ name }) => !applied.has(name));
    const together = pending.findIndex(({ alone }) => alone === true && engine === 'postgres');
    const steps = pending.slice(0, together === -1 ? pending.length : Math.max(1, together));
    for (const { name, run } of steps) {
      await run(db, migrationContext(engine));
      await sql`insert into schema_migrations (name, applied_at) values (${name}, ${Date.now()})`.execute(db);
    }
    return steps.length === pending.length;
  });
}
