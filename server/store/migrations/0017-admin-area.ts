import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const migration: Migration = async (db, { autoId }) => {
  await db.schema.alterTable('users').addColumn('disabled_at', 'bigint').execute();

  await db.schema.alterTable('grants').addColumn('given_by', 'bigint').execute();
  await db.schema.alterTable('grants').addColumn('idempotency_key', 'text').execute();
  await db.schema.alterTable('grants').addColumn('reason', 'text').execute();
  // A grant that is sent again under its name is found, however long ago it was made.
  await sql`create unique index grants_once on grants (given_by, idempotency_key)
    where idempotency_key is not null`.execute(db);

  await db.schema
    .createTable('changes')
    .addColumn('id', autoId.type, autoId.build)
    .addColumn('user_id', 'bigint', (col) => col.notNull())
    .addColumn('token_id', 'bigint', (col) => col.notNull())
    .addColumn('action', 'text', (col) => col.notNull())
    .addColumn('subject', 'text', (col) => col.notNull())
    .addColumn('details', 'text', (col) => col.notNull())
    .addColumn('created_at', 'bigint', (col) => col.notNull())
    .execute();
  await db.schema.createIndex('changes_subject').on('changes').columns(['subject', 'id']).execute();
  await db.schema.createIndex('changes_created').on('changes').columns(['created_at', 'id']).execute();
};
