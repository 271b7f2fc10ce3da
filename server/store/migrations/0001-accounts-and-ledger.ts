import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const migration: Migration = async (db, { engine, autoId }) => {
  await db.schema
    .createTable('users')
    .addColumn('id', autoId.type, autoId.build)
    .addColumn('name', 'text', (col) => col.notNull())
    .addColumn('group_name', 'text', (col) => col.notNull())
    .addColumn('created_at', 'bigint', (col) => col.notNull())
    .execute();
  // Id 1 is kept for the bootstrap user, whoever is created first.
  if (engine === 'sqlite') await sql`insert into sqlite_sequence (name, seq) values ('users', 1)`.execute(db);
  else await sql`alter sequence users_id_seq restart with 2`.execute(db);

  await db.schema
    .createTable('tokens')
    .addColumn('id', autoId.type, autoId.build)
    .addColumn('user_id', 'bigint', (col) => col.notNull().references('users.id'))
    .addColumn('name', 'text', (col) => col.notNull())
    .addColumn('key_hash', 'text', (col) => col.notNull().unique())
    .addColumn('key_hint', 'text', (col) => col.notNull())
    .addColumn('group_name', 'text')
    .addColumn('status', 'integer', (col) => col.notNull())
    .addColumn('unlimited_quota', 'integer', (col) => col.notNull())
    .addColumn('remain_quota', 'bigint', (col) => col.notNull())
    .addColumn('used_quota', 'bigint', (col) => col.notNull())
    .addColumn('expired_time', 'bigint', (col) => col.notNull())
    .addColumn('model_limits', 'text')
    .addColumn('created_time', 'bigint', (col) => col.notNull())
    .execute();
  await db.schema.createIndex('tokens_user').on('tokens').column('user_id').execute();

  // No foreign keys from here on: books and logs outlive the accounts they are about.
  await db.schema
    .createTable('ledger')
    .addColumn('request_id', 'text', (col) => col.primaryKey())
    .addColumn('token_id', 'bigint', (col) => col.notNull())
    .addColumn('user_id', 'bigint', (col) => col.notNull())
    .addColumn('model', 'text', (col) => col.notNull())
    .addColumn('unit', 'text', (col) => col.notNull())
    .addColumn('reserved', 'bigint', (col) => col.notNull())
    .addColumn('charged', 'bigint')
    .addColumn('unlimited', 'integer', (col) => col.notNull())
    .addColumn('state', 'text', (col) => col.notNull())
    .addColumn('kind', 'text', (col) => col.notNull())
    .addColumn('opened_at', 'bigint', (col) => col.notNull())
    .addColumn('expires_at', 'bigint', (col) => col.notNull())
    .addColumn('closed_at', 'bigint')
    .addCheckConstraint('ledger_state', sql`state in ('open', 'settled', 'refunded')`)
    .addCheckConstraint('ledger_kind', sql`kind in ('request', 'task')`)
    .execute();
  await sql`create index ledger_open on ledger (expires_at) where state = 'open'`.execute(db);

  await db.schema
    .createTable('request_log')
    .addColumn('id', autoId.type, autoId.build)
    .addColumn('request_id', 'text', (col) => col.notNull())
    .addColumn('user_id', 'bigint', (col) => col.notNull())
    .addColumn('token_id', 'bigint', (col) => col.notNull())
    .addColumn('token_name', 'text', (col) => col.notNull())
    .addColumn('model_name', 'text', (col) => col.notNull())
    .addColumn('operation', 'text', (col) => col.notNull())
    .addColumn('channel', 'text', (col) => col.notNull())
    .addColumn('status', 'integer', (col) => col.notNull())
    .addColumn('error_code', 'text')
    .addColumn('unit', 'text', (col) => col.notNull())
    .addColumn('units', 'double precision', (col) => col.notNull())
    .addColumn('prompt_tokens', 'bigint', (col) => col.notNull())
    .addColumn('completion_tokens', 'bigint', (col) => col.notNull())
    .addColumn('quota', 'bigint', (col) => col.notNull())
    .addColumn('duration_ms', 'bigint', (col) => col.notNull())
    .addColumn('created_at', 'bigint', (col) => col.notNull())
    .execute();
  // Newest first is by id: it follows the order of writing, which seconds do not.
  await db.schema.createIndex('request_log_user').on('request_log').columns(['user_id', 'id']).execute();
  await db.schema.createIndex('request_log_request').on('request_log').column('request_id').execute();
};
