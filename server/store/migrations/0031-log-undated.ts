import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** Reads the whole log once, while gateways go on reading and writing it, so that nobody waits for that in the next step. */
export const migration: Migration = async (db, { engine }) => {
  if (engine === 'sqlite') return;
  await sql`alter table request_log validate constraint request_log_undated`.execute(db);
};
