import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const migration: Migration = async (db) => {
  await db.schema
    .createTable('tasks')
    .addColumn('id', 'text', (col) => col.primaryKey())
    .addColumn('request_id', 'text', (col) => col.notNull().unique())
    .addColumn('user_id', 'bigint', (col) => col.notNull())
    .addColumn('token_id', 'bigint', (col) => col.notNull())
    .addColumn('operation', 'text', (col) => col.notNull())
    .addColumn('format', 'text', (col) => col.notNull())
    .addColumn('driver', 'text', (col) => col.notNull())
    .addColumn('model', 'text', (col) => col.notNull())
    .addColumn('unit', 'text', (col) => col.notNull())
    .addColumn('channel', 'text', (col) => col.notNull())
    .addColumn('upstream_id', 'text')
    .addColumn('state', 'text', (col) => col.notNull())
    .addColumn('progress', 'integer', (col) => col.notNull())
    .addColumn('request', 'text')
    .addColumn('facts', 'text', (col) => col.notNull())
    .addColumn('result', 'text')
    .addColumn('error_code', 'text')
    .addColumn('error_message', 'text')
    .addColumn('expected_units', 'double precision', (col) => col.notNull())
    .addColumn('rate', 'double precision', (col) => col.notNull())
    .addColumn('callback_url', 'text')
    .addColumn('idempotency_key', 'text')
    .addColumn('fingerprint', 'text')
    .addColumn('created_at', 'bigint', (col) => col.notNull())
    .addColumn('updated_at', 'bigint', (col) => col.notNull())
    .addColumn('started_at', 'bigint')
    .addColumn('completed_at', 'bigint')
    .addColumn('expires_at', 'bigint')
    .addColumn('deadline_at', 'bigint', (col) => col.notNull())
    .addColumn('polled_at', 'bigint')
    .addColumn('next_poll_at', 'bigint')
    .addColumn('poll_interval', 'integer', (col) => col.notNull())
    .addColumn('failures', 'integer', (col) => col.notNull())
    .addColumn('lease_owner', 'text')
    .addColumn('attempt', 'integer', (col) => col.notNull())
    .addCheckConstraint('tasks_state', sql`state in ('queued', 'in_progress', 'completed', 'failed')`)
    // What is final is never claimed, and what is not always will be.
    .addCheckConstraint(
      'tasks_due',
      sql`(next_poll_at is null) = (completed_at is not null)
        and (completed_at is null) = (state in ('queued', 'in_progress'))`,
    )
    .execute();
  await db.schema
    .createIndex('tasks_owner')
    .on('tasks')
    .columns(['user_id', 'format', 'created_at', 'id'])
    .execute();
  await sql`create index tasks_open on tasks (channel, next_poll_at) where next_poll_at is not null`.execute(
    db,
  );
  await sql`create index tasks_final on tasks (completed_at) where completed_at is not null`.execute(db);
  await sql`create unique index tasks_idempotency on tasks (user_id, format, idempotency_key)
    where idempotency_key is not null`.execute(db);
};
