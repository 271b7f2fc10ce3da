import type { Migration } from './migration.ts';

export const migration: Migration = async (db) => {
  await db.schema
    .createTable('channel_states')
    .addColumn('channel', 'text', (col) => col.primaryKey())
    .addColumn('user_id', 'bigint', (col) => col.notNull())
    .addColumn('reason', 'text', (col) => col.notNull())
    .addColumn('disabled_at', 'bigint', (col) => col.notNull())
    .execute();
};
