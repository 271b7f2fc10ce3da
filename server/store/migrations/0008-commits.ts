import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** SQLite acknowledges every commit. The times are the server's, whose clock all gateways share. */
export const migration: Migration = async (db, { engine }) => {
  if (engine === 'sqlite') return;
  await db.schema
    .createTable('commits')
    .addColumn('store', 'text', (col) => col.notNull())
    .addColumn('slot', 'integer', (col) => col.notNull())
    .addColumn('number', 'bigint', (col) => col.notNull())
    .addColumn('made_at', 'timestamptz', (col) => col.notNull().defaultTo(sql`now()`))
    .addPrimaryKeyConstraint('commits_slot', ['store', 'slot'])
    .execute();
};
