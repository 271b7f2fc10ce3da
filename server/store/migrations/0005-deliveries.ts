import { sql } from 'kysely';
import type { Migration } from './migration.ts';

export const migration: Migration = async (db, { autoId }) => {
  await db.schema
    .createTable('deliveries')
    .addColumn('id', autoId.type, autoId.build)
    .addColumn('task_id', 'text', (col) => col.notNull())
    .addColumn('state', 'text', (col) => col.notNull())
    .addColumn('host', 'text', (col) => col.notNull())
    .addColumn('changed_at', 'bigint', (col) => col.notNull())
    .addColumn('tries', 'integer', (col) => col.notNull())
    .addColumn('next_try_at', 'bigint')
    .addColumn('lease_owner', 'text')
    .addColumn('attempt', 'integer', (col) => col.notNull())
    .addColumn('outcome', 'text')
    .addColumn('closed_at', 'bigint')
    .addCheckConstraint('deliveries_outcome', sql`outcome in ('delivered', 'given_up')`)
    .addCheckConstraint(
      'deliveries_due',
      sql`(next_try_at is null or closed_at is null) and (outcome is null) = (closed_at is null)`,
    )
    // A task reaches each state once, so each is told once.
    .addUniqueConstraint('deliveries_task', ['task_id', 'state'])
    .execute();
  await sql`create index deliveries_open on deliveries (next_try_at) where next_try_at is not null`.execute(
    db,
  );
  await sql`create index deliveries_host on deliveries (host, next_try_at)
    where next_try_at is not null`.execute(db);
  await sql`create index deliveries_closed on deliveries (closed_at) where closed_at is not null`.execute(db);
};
