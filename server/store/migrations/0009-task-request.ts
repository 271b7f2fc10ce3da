import type { Migration } from './migration.ts';

/** A submission of unknown outcome is never repeated, so no request is kept for it. */
export const migration: Migration = async (db) => {
  await db.schema.alterTable('tasks').dropColumn('request').execute();
};
