import { measured } from './measured.ts';
import { openSqliteStore } from './sqlite/engine.ts';
import type { Store, StoreOptions } from './store.ts';

/**
 * Opens the store and brings its schema up to date.
 *
 * @throws when the data folder is in use by another gateway, the database does not answer, or it was written
 *   by a newer version.
 */
export async function openStore({ dataDir, databaseUrl, ...options }: StoreOptions): Promise<Store> {
  if (databaseUrl === undefined) return measured(await openSqliteStore(dataDir, options));
  const { openPostgresStore } = await import('./postgres/engine.ts');
  return measured(await openPostgresStore(databaseUrl, options));
}
