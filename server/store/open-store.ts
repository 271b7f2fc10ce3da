import { measured } from './measured.ts';
import { openSqliteStore } from './sqlite/engine.ts';
import type { Store, StoreOptions } from './store.ts';

/**
 * Opens the store and brings its schema up to date.
 *
 * @throws when another gateway uses the data folder, the database does not answer, or a newer version has written it
 */
export async function openStore({ dataDir, databaseUrl, ...options }: StoreOptions): Promise<Store> {
  if (databaseUrl === undefined) return measured(await openSqliteStore(dataDir, options));
  const { openPostgresStore } = await import('./postgres/engine.ts');
  return measured(await openPostgresStore(databaseUrl, options));
}
