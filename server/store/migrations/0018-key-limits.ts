import type { Migration } from './migration.ts';

export const migration: Migration = async (db) => {
  await db.schema.alterTable('tokens').addColumn('requests_per_minute', 'bigint').execute();
  await db.schema.alterTable('tokens').addColumn('sockets', 'bigint').execute();
};
