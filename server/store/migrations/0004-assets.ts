import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const migration: Migration = async (db) => {
  await db.schema
    .createTable('assets')
    .addColumn('id', 'text', (col) => col.primaryKey())
    .addColumn('user_id', 'bigint', (col) => col.notNull())
    .addColumn('channel', 'text', (col) => col.notNull())
    .addColumn('upstream_id', 'text', (col) => col.notNull())
    .addColumn('model', 'text')
    .addColumn('asset_type', 'text', (col) => col.notNull())
    .addColumn('name', 'text', (col) => col.notNull())
    .addColumn('status', 'text', (col) => col.notNull())
    .addColumn('group_id', 'text', (col) => col.notNull())
    .addColumn('project_name', 'text', (col) => col.notNull())
    .addColumn('url', 'text')
    .addColumn('url_expires', 'bigint')
    .addColumn('error_code', 'text')
    .addColumn('error_message', 'text')
    .addColumn('created_at', 'bigint', (col) => col.notNull())
    .addColumn('updated_at', 'bigint', (col) => col.notNull())
    .addCheckConstraint('assets_status', sql`status in ('Processing', 'Active', 'Failed')`)
    .addCheckConstraint('assets_url', sql`(status = 'Active') = (url is not null)`)
    .addCheckConstraint('assets_error', sql`(status = 'Failed') = (error_code is not null)`)
    .execute();
  await db.schema.createIndex('assets_owner').on('assets').columns(['user_id', 'created_at']).execute();
};
