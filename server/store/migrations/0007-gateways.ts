import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const migration: Migration = async (db, { engine }) => {
  await db.schema
    .createTable('gateways')
    .addColumn('id', 'text', (col) => col.primaryKey())
    .addColumn('beat', 'bigint', (col) => col.notNull())
    .execute();

  // A hold lasts as long as its gateway, not until some time.
  await db.schema.dropIndex('ledger_open').execute();
  await db.schema.alterTable('ledger').dropColumn('expires_at').execute();
  await db.schema.alterTable('ledger').addColumn('gateway', 'text').execute();
  await sql`create index ledger_open on ledger (gateway) where state = 'open' and kind = 'request'`.execute(
    db,
  );

  await db.schema.alterTable('tasks').addColumn('asked_at', 'bigint').execute();
  await sql`update tasks set asked_at = created_at`.execute(db);

  // For the leases of gateways that are gone. On SQLite they are looked for once, at the start.
  if (engine === 'sqlite') return;
  await sql`create index tasks_leased on tasks (lease_owner) where lease_owner is not null`.execute(db);
  await sql`create index deliveries_leased on deliveries (lease_owner) where lease_owner is not null`.execute(
    db,
  );
};
