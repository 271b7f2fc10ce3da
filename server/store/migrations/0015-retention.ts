import type { Migration } from './migration.ts';

export const migration: Migration = async (db) => {
  await db.schema
    .createTable('swept_totals')
    .addColumn('token_id', 'bigint', (col) => col.primaryKey())
    .addColumn('charged', 'bigint', (col) => col.notNull())
    .addColumn('spent', 'bigint', (col) => col.notNull())
    .execute();
};
