import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const migration: Migration = async (db) => {
  // All that a search can ask for, so that it reads no row but those it shows: they are long.
  await db.schema
    .createIndex('tasks_search')
    .on('tasks')
    .columns([
      'created_at',
      'id',
      'state',
      'user_id',
      'token_id',
      'model',
      'channel',
      'format',
      'driver',
      'error_code',
      'upstream_id',
    ])
    .execute();

  await db.schema.alterTable('deliveries').addColumn('last_try_at', 'bigint').execute();
  await db.schema.alterTable('deliveries').addColumn('last_status', 'integer').execute();
  await db.schema.alterTable('deliveries').addColumn('last_error', 'text').execute();
  // Both are few among the many that are delivered.
  await sql`create index deliveries_unclosed on deliveries (id) where closed_at is null`.execute(db);
  await sql`create index deliveries_given_up on deliveries (id) where outcome = 'given_up'`.execute(db);
};
