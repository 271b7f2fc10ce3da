import { SettingsError } from '../settings/settings-error.ts';
import type { DatabaseCopy } from './postgres/copy-sqlite.ts';

/**
 * Copies the SQLite database of a data folder to an empty PostgreSQL database: `target`, else `databaseUrl`.
 *
 * @throws SettingsError when there is no target, or the copy is refused
 */
export async function copyStore({
  dataDir,
  databaseUrl,
  target,
  signal,
}: {
  dataDir: string;
  databaseUrl?: string | undefined;
  target: string | undefined;
  signal: AbortSignal;
}): Promise<DatabaseCopy> {
  const [variable, address] = target === undefined ? ['DATABASE_URL', databaseUrl] : ['--to', target];
  if (address === undefined)
    throw new SettingsError('--to or DATABASE_URL must be the postgres:// address of an empty database.');
  const { copyToPostgres } = await import('./postgres/copy-sqlite.ts');
  return copyToPostgres({ dataDir, databaseUrl: address, variable, signal });
}
