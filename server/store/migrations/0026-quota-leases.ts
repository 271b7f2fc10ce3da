import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * Quota that gateways have taken out of a key's balance to hold calls in memory, and entries of the log that are booked by
 * themselves. All of it is added: a gateway of the version before works on beside.
 */
export const migration: Migration = async (db) => {
  // First what a settlement locks first, so that the two do not wait for each other.
  await db.schema.alterTable('request_log').addColumn('held', 'bigint').execute();
  await db.schema.alterTable('request_log').addColumn('unlimited', 'integer').execute();
  await sql`create unique index request_log_booked on request_log (request_id) where held is not null`.execute(
    db,
  );

  await db.schema
    .createTable('quota_leases')
    .addColumn('id', 'text', (col) => col.primaryKey())
    .addColumn('token_id', 'bigint', (col) => col.notNull())
    .addColumn('gateway', 'text', (col) => col.notNull())
    .addColumn('granted', 'bigint', (col) => col.notNull())
    .addColumn('remaining', 'bigint', (col) => col.notNull())
    .addColumn('epoch', 'bigint', (col) => col.notNull())
    .addColumn('draining', 'integer', (col) => col.notNull().defaultTo(0))
    .addColumn('granted_at', 'bigint', (col) => col.notNull())
    .addCheckConstraint('quota_leases_remaining', sql`remaining >= 0 and remaining <= granted`)
    .execute();
  await db.schema.createIndex('quota_leases_token').on('quota_leases').column('token_id').execute();
  await db.schema.createIndex('quota_leases_gateway').on('quota_leases').column('gateway').execute();

  const token = () => db.schema.alterTable('tokens');
  await token()
    .addColumn('leased_quota', 'bigint', (col) => col.notNull().defaultTo(0))
    .execute();
  await token()
    .addColumn('lease_epoch', 'bigint', (col) => col.notNull().defaultTo(0))
    .execute();
  await token().addColumn('exact_until', 'bigint').execute();
};
