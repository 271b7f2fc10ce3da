import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const migration: Migration = async (db) => {
  await db.schema
    .createTable('verification_sessions')
    .addColumn('session_id', 'text', (col) => col.primaryKey())
    .addColumn('user_id', 'bigint', (col) => col.notNull())
    .addColumn('channel', 'text', (col) => col.notNull())
    .addColumn('h5_link', 'text', (col) => col.notNull())
    .addColumn('callback_url', 'text', (col) => col.notNull())
    .addColumn('status', 'text', (col) => col.notNull())
    .addColumn('group_id', 'text')
    .addColumn('upstream_group_id', 'text')
    .addColumn('result_code', 'bigint')
    .addColumn('created_at', 'bigint', (col) => col.notNull())
    .addColumn('updated_at', 'bigint', (col) => col.notNull())
    .addColumn('expires_at', 'bigint', (col) => col.notNull())
    .addCheckConstraint(
      'verification_sessions_status',
      sql`status in ('pending', 'verified', 'failed', 'expired')`,
    )
    .addCheckConstraint('verification_sessions_group', sql`status = 'verified' or group_id is null`)
    .addCheckConstraint(
      'verification_sessions_upstream_group',
      sql`(group_id is null) = (upstream_group_id is null)`,
    )
    .execute();
  // Uploads name a group.
  await db.schema
    .createIndex('verification_sessions_group_id')
    .on('verification_sessions')
    .columns(['user_id', 'group_id'])
    .execute();
};
