import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** PostgreSQL counts all entries of a statement together: in a batch, hundreds are of one key and model. */
export const migration: Migration = async (db, { engine }) => {
  if (engine === 'sqlite') return;
  for (const statement of statements) await sql.raw(statement).execute(db);
};

const statements = [
  `create function count_log_entries() returns trigger language plpgsql as $$
  begin
    insert into log_counts (user_id, bucket, token_id, model_name, entries)
    select user_id, id >> 14, token_id, model_name, count(*) from added
    group by user_id, id >> 14, token_id, model_name
    order by user_id, id >> 14, token_id, model_name
    on conflict (user_id, bucket, token_id, model_name) do update set entries = log_counts.entries + excluded.entries;
    return null;
  end $$`,
  'drop trigger request_log_counted on request_log',
  `create trigger request_log_counted after insert on request_log
  referencing new table as added for each statement execute function count_log_entries()`,
  `create trigger request_log_uncounted after delete on request_log
  for each row execute function count_log_entry()`,
];
