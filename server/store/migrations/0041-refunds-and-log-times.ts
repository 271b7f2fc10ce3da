import { type Kysely, sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * Adds the refunds of settled calls, an index by which a search finds a task, and the time range of the entries that each row of
 * `log_counts` counts. A search by time reads entries only where that range crosses a bound of the search, or is unknown (null).
 */
export const migration: Migration = async (db, { engine }) => {
  await addRefunds(db);
  // The order of PostgreSQL's locks: the scan takes none, and writers lock a partition before they lock its counts.
  await sql`
    create temporary table counted as
    select user_id, id >> 14 as bucket, token_id, model_name, count(*) as entries, min(created_at) as first_at,
      max(created_at) as last_at
    from request_log group by user_id, id >> 14, token_id, model_name`.execute(db);
  for (const table of engine === 'sqlite' ? ['request_log'] : await partitions(db))
    await sql`create index ${sql.id(`${table}_task`)} on ${sql.table(table)} (task_id) where task_id is not null`.execute(
      db,
    );
  await sql`alter table log_counts add column first_at bigint`.execute(db);
  await sql`alter table log_counts add column last_at bigint`.execute(db);
  for (const statement of engine === 'sqlite' ? sqliteTrigger : postgresTrigger)
    await sql.raw(statement).execute(db);
  // Rows that changed after the scan stay unknown.
  await sql`
    update log_counts set first_at = c.first_at, last_at = c.last_at from counted c
    where log_counts.user_id = c.user_id and log_counts.bucket = c.bucket and log_counts.token_id = c.token_id
      and log_counts.model_name = c.model_name and log_counts.entries = c.entries`.execute(db);
  await sql`drop table counted`.execute(db);
};

async function addRefunds(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('refunds')
    .addColumn('request_id', 'text', (col) => col.primaryKey())
    .addColumn('token_id', 'bigint', (col) => col.notNull())
    .addColumn('user_id', 'bigint', (col) => col.notNull())
    .addColumn('model_name', 'text', (col) => col.notNull())
    .addColumn('operation', 'text', (col) => col.notNull())
    .addColumn('channel', 'text', (col) => col.notNull())
    .addColumn('unit', 'text', (col) => col.notNull())
    .addColumn('charged', 'bigint', (col) => col.notNull())
    .addColumn('amount', 'bigint', (col) => col.notNull())
    .addColumn('unlimited', 'integer', (col) => col.notNull())
    .addColumn('reason', 'text', (col) => col.notNull())
    .addColumn('given_by', 'bigint', (col) => col.notNull())
    .addColumn('idempotency_key', 'text')
    .addColumn('created_at', 'bigint', (col) => col.notNull())
    .addCheckConstraint('refunds_amount', sql`amount > 0 and amount <= charged`)
    .execute();
  await sql`create unique index refunds_once on refunds (given_by, idempotency_key)
    where idempotency_key is not null`.execute(db);
  await db.schema.createIndex('refunds_created').on('refunds').column('created_at').execute();
}

/** Lists the partitions that may have entries with a task, today's last: its writers wait while its index is built. */
async function partitions(db: Kysely<unknown>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'request_log'::regclass and c.relname <> 'request_log_before' order by 1`.execute(db);
  return rows.map(({ name }) => name);
}

const columns = 'user_id, bucket, token_id, model_name, entries, first_at, last_at';

const sqliteTrigger = [
  'drop trigger request_log_added',
  `create trigger request_log_added after insert on request_log begin
    insert into log_counts (${columns})
    values (new.user_id, new.id >> 14, new.token_id, new.model_name, 1, new.created_at, new.created_at)
    on conflict (user_id, bucket, token_id, model_name) do update set entries = log_counts.entries + 1,
      first_at = min(log_counts.first_at, excluded.first_at), last_at = max(log_counts.last_at, excluded.last_at);
  end`,
];

// Unlike min and max of SQLite, least and greatest ignore null, which has to stay.
const postgresTrigger = [
  `create or replace function count_log_entries() returns trigger language plpgsql as $$
  begin
    insert into log_counts (${columns}, first_day, last_day)
    select user_id, id >> 14, token_id, model_name, count(*), min(created_at), max(created_at),
      min(nullif(day, 0)), max(nullif(day, 0)) from added
    group by user_id, id >> 14, token_id, model_name
    order by user_id, id >> 14, token_id, model_name
    on conflict (user_id, bucket, token_id, model_name) do update set entries = log_counts.entries + excluded.entries,
      first_at = case when log_counts.first_at is not null then least(log_counts.first_at, excluded.first_at) end,
      last_at = case when log_counts.last_at is not null then greatest(log_counts.last_at, excluded.last_at) end,
      first_day = least(log_counts.first_day, excluded.first_day),
      last_day = greatest(log_counts.last_day, excluded.last_day);
    return null;
  end $$`,
];
