import { sql } from 'kysely';
import type { Migration } from './migration.ts';

/**
 * Adds the evidence of a charge to the log, and the price to the tasks. Every column is null or 0 in older rows and in the rows of
 * gateways of the previous version. PostgreSQL adds such columns without rewriting a table.
 */
export const migration: Migration = async (db) => {
  for (const [table, columns] of Object.entries(added))
    for (const column of columns)
      await sql`alter table ${sql.table(table)} add column ${sql.raw(column)}`.execute(db);
};

const price = [
  'unit_price double precision',
  'group_ratio double precision',
  'group_name text',
  'config_revision text',
];

const added = {
  request_log: [...price, 'task_id text', 'upstream_id text', 'state text', 'debt bigint not null default 0'],
  tasks: price,
};
