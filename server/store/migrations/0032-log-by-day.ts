import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * On PostgreSQL the log becomes a table with a partition for each day, which gateways add ahead of time. What there was is the partition of
 * day 0, as it is, and takes the entries of gateways of the version before. Entries of a day that has no partition go into
 * `request_log_other`, which is also the pattern for new ones.
 */
export const migration: Migration = async (db, { engine }) => {
  if (engine === 'sqlite') return;
  for (const statement of statements) await sql.raw(statement).execute(db);
};

const statements = [
  'alter table request_log rename to request_log_before',
  'drop trigger request_log_counted on request_log_before',
  'drop trigger request_log_uncounted on request_log_before',
  // Without a key and without indexes: those of the partitions are their own, so that none has to be built for what there is.
  'create table request_log (like request_log_before including defaults) partition by range (day)',
  'alter table request_log attach partition request_log_before for values from (0) to (1)',
  `create table request_log_other
  (like request_log_before including defaults including indexes including storage)`,
  'alter table request_log attach partition request_log_other default',
  'alter sequence request_log_id_seq owned by request_log.id',
  `create trigger request_log_counted after insert on request_log
  referencing new table as added for each statement execute function count_log_entries()`,
  `create trigger request_log_uncounted after delete on request_log
  for each row execute function count_log_entry()`,
];
