import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/** What has left a lease for tasks, and is still counted in its key's `leased_quota`. */
export const migration: Migration = async (db) => {
  await db.schema
    .alterTable('quota_leases')
    .addColumn('unposted', 'bigint', (col) => col.notNull().defaultTo(0).check(sql`unposted >= 0`))
    .execute();
};
