import type { Migration } from './migration.ts';

export const migration: Migration = async (db) => {
  await db.schema.alterTable('tokens').addColumn('allowance_id', 'bigint').execute();
};
