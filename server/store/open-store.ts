import { measured } from './measured.ts';
import { openPostgresStore } from './postgres/engine.ts';
import { openSqliteStore } from './sqlite/engine.ts';
import type { Store, StoreOptions } from './store.ts';

/**
 * Opens the store and brings its schema up to date.
 *
 * @throws when the data folder is in use by another gateway, the database does not answer, or it was written
 *   by a newer version.
 */
export async function openStore({ dataDir, databaseUrl, ...options }: StoreOptions): Promise<Store> {
  const store = await (databaseUrl === undefined
    ? openSqliteStore(dataDir, options)
    : openPostgresStore(databaseUrl, options));
  return measured(store);
}
