import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const migration: Migration = async (db, { engine }) => {
  // A list looks at nothing but its index until it knows its page: rows are long.
  await db.schema.alterTable('tasks').addColumn('service_tier', 'text').execute();
  const told = engine === 'sqlite' ? sql`facts ->> '$.service_tier'` : sql`facts::json ->> 'service_tier'`;
  await sql`update tasks set service_tier = ${told} where format = 'official'`.execute(db);
  await db.schema.dropIndex('tasks_owner').execute();
  await db.schema
    .createIndex('tasks_owner')
    .on('tasks')
    .columns(['user_id', 'format', 'created_at', 'id', 'state', 'error_code', 'model', 'service_tier'])
    .execute();

  // What has been closed, or logged, for longer than it is to be kept.
  await sql`create index ledger_closed on ledger (closed_at) where closed_at is not null`.execute(db);
  await db.schema.createIndex('request_log_created').on('request_log').column('created_at').execute();
};
