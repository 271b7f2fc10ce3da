import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const migration: Migration = async (db) => {
  // Those that are swept: the sessions of verified persons stay.
  await sql`create index verification_sessions_swept on verification_sessions (updated_at)
    where group_id is null`.execute(db);
};
