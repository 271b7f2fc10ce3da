import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * So that a search need not read the log: how many entries each key and model has in each bucket of 2^14 numbers. The
 * database itself counts, with the entry, whoever writes it.
 */
export const migration: Migration = async (db, { engine }) => {
  const end = engine === 'sqlite' ? sql`without rowid` : sql`with (fillfactor = 50)`;
  await db.schema
    .createTable('log_counts')
    .addColumn('user_id', 'bigint', (col) => col.notNull())
    .addColumn('bucket', 'bigint', (col) => col.notNull())
    .addColumn('token_id', 'bigint', (col) => col.notNull())
    .addColumn('model_name', 'text', (col) => col.notNull())
    .addColumn('entries', 'bigint', (col) => col.notNull())
    .addPrimaryKeyConstraint('log_counts_key', ['user_id', 'bucket', 'token_id', 'model_name'])
    .modifyEnd(end)
    .execute();
  await sql`
    insert into log_counts (user_id, bucket, token_id, model_name, entries)
    select user_id, id >> 14, token_id, model_name, count(*) from request_log
    group by user_id, id >> 14, token_id, model_name`.execute(db);
  for (const statement of engine === 'sqlite' ? sqliteTriggers : postgresTriggers)
    await sql.raw(statement).execute(db);

  await db.schema
    .createIndex('request_log_key')
    .on('request_log')
    .columns(['token_id', 'model_name', 'id'])
    .execute();
  // What is swept is found by the ledger.
  await db.schema.dropIndex('request_log_created').execute();
  if (engine === 'sqlite') return;
  // By bytes, so that the beginning of an id finds it whatever the database's order of letters.
  await db.schema.dropIndex('request_log_request').execute();
  await sql`create index request_log_request on request_log (request_id text_pattern_ops)`.execute(db);
};

const add = (row: string) => `
  insert into log_counts (user_id, bucket, token_id, model_name, entries)
  values (${row}.user_id, ${row}.id >> 14, ${row}.token_id, ${row}.model_name, 1)
  on conflict (user_id, bucket, token_id, model_name) do update set entries = log_counts.entries + 1;`;

const remove = (row: string) => {
  const key = `user_id = ${row}.user_id and bucket = ${row}.id >> 14 and token_id = ${row}.token_id
    and model_name = ${row}.model_name`;
  return `
  update log_counts set entries = entries - 1 where ${key};
  delete from log_counts where ${key} and entries = 0;`;
};

const sqliteTriggers = [
  `create trigger request_log_added after insert on request_log begin ${add('new')} end`,
  `create trigger request_log_removed after delete on request_log begin ${remove('old')} end`,
];

const postgresTriggers = [
  `create function count_log_entry() returns trigger language plpgsql as $$
  begin
    if tg_op = 'INSERT' then ${add('new')}
    else ${remove('old')}
    end if;
    return null;
  end $$`,
  `create trigger request_log_counted after insert or delete on request_log
  for each row execute function count_log_entry()`,
];
