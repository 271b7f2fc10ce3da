import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * The day of a log entry, by which the log is to be divided. Nothing is rewritten or looked through: the entries that are there, and
 * those that gateways of the version before write from now on, have day 0.
 */
export const migration: Migration = async (db, { engine }) => {
  if (engine === 'sqlite') return;
  await sql`
    alter table request_log add column day integer not null default 0,
      add constraint request_log_undated check (day = 0) not valid`.execute(db);
};
