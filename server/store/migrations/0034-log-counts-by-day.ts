import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** From which day to which one the counted entries are, so that a page of a search looks at the partitions of its days only. null: none has a day. */
export const migration: Migration = async (db, { engine }) => {
  if (engine === 'sqlite') return;
  for (const statement of statements) await sql.raw(statement).execute(db);
};

const statements = [
  'alter table log_counts add column first_day integer, add column last_day integer',
  `create or replace function count_log_entries() returns trigger language plpgsql as $$
  begin
    insert into log_counts (user_id, bucket, token_id, model_name, entries, first_day, last_day)
    select user_id, id >> 14, token_id, model_name, count(*), min(nullif(day, 0)), max(nullif(day, 0)) from added
    group by user_id, id >> 14, token_id, model_name
    order by user_id, id >> 14, token_id, model_name
    on conflict (user_id, bucket, token_id, model_name) do update set entries = log_counts.entries + excluded.entries,
      first_day = least(log_counts.first_day, excluded.first_day),
      last_day = greatest(log_counts.last_day, excluded.last_day);
    return null;
  end $$`,
  // What was written between the steps before and this one.
  `update log_counts c set first_day = d.first_day, last_day = d.last_day
  from (
    select user_id, id >> 14 as bucket, token_id, model_name, min(day) as first_day, max(day) as last_day
    from request_log where day <> 0 group by 1, 2, 3, 4
  ) d
  where c.user_id = d.user_id and c.bucket = d.bucket and c.token_id = d.token_id and c.model_name = d.model_name`,
];
