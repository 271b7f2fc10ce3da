import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * Adds the debts of keys: cost that no quota covered. A gateway of the previous version records none and settles none, and
 * leaves those of others alone.
 */
export const migration: Migration = async (db) => {
  for (const [table, column] of [
    ['tokens', 'debt'],
    ['grants', 'debt_settled'],
    ['swept_totals', 'debt'],
  ] as const)
    await sql`alter table ${sql.table(table)} add column ${sql.raw(column)} bigint not null default 0`.execute(
      db,
    );
};
