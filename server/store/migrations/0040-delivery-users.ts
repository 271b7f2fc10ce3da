import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * The owner of each delivery's task, so that delivery slots are shared by user. Rows that gateways of the version before
 * add have user 0. They still read the index by host, so it stays.
 */
export const migration: Migration = async (db) => {
  await db.schema
    .alterTable('deliveries')
    .addColumn('user_id', 'bigint', (col) => col.notNull().defaultTo(0))
    .execute();
  // Closed ones are claimed again only after an operator resends them, as user 0 then.
  await sql`update deliveries set user_id = (select user_id from tasks where tasks.id = deliveries.task_id)
    where closed_at is null and exists (select id from tasks where tasks.id = deliveries.task_id)`.execute(
    db,
  );
  await sql`create index deliveries_user on deliveries (user_id, next_try_at)
    where next_try_at is not null`.execute(db);
};
