import type { Migration } from './migration.ts';

export const migration: Migration = async (db) => {
  await db.schema.alterTable('tasks').addColumn('traceparent', 'text').execute();
};
