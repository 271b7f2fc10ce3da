import type { Migration } from './migration.ts';

export const migration: Migration = async (db) => {
  await db.schema
    .createTable('secrets')
    .addColumn('name', 'text', (col) => col.primaryKey())
    .addColumn('value', 'text', (col) => col.notNull())
    .execute();
};
