import type { Migration } from './migration.ts';

/**
 * The prices that a gateway loaded last, and what caused each change. Gateways of the version before record only changes that
 * an admin requested. A change that no admin requested has user 0 and key 0.
 */
export const migration: Migration = async (db) => {
  await db.schema
    .alterTable('changes')
    .addColumn('cause', 'text', (column) => column.notNull().defaultTo('api'))
    .execute();
  await db.schema
    .createTable('loaded_prices')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('revision', 'text', (column) => column.notNull())
    .addColumn('prices', 'text', (column) => column.notNull())
    .addColumn('ratios', 'text', (column) => column.notNull())
    .addColumn('loaded_at', 'bigint', (column) => column.notNull())
    .execute();
};
