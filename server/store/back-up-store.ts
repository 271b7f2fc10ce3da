import { SettingsError } from '../settings/settings-error.ts';
import { type Backup, backUpDatabase } from './sqlite/backup.ts';
import type { StoreOptions } from './store.ts';

/**
 * Copies a SQLite database to a new file.
 *
 * @throws SettingsError when the file cannot be written, or with the command for a database of PostgreSQL
 */
export async function backUpStore(
  { dataDir, databaseUrl }: Pick<StoreOptions, 'dataDir' | 'databaseUrl'>,
  file: string,
): Promise<Backup> {
  if (databaseUrl === undefined) return backUpDatabase(dataDir, file);
  throw new SettingsError(
    `DATABASE_URL names a PostgreSQL database. Back it up with: pg_dump --format=custom --file=${quote(file)} ${quote(withoutPassword(databaseUrl))}`,
  );
}

/** Removes the passwords from a database address. An address that cannot be parsed becomes a placeholder. */
function withoutPassword(databaseUrl: string): string {
  if (!URL.canParse(databaseUrl)) return 'postgres://USER@HOST/DATABASE';
  const url = new URL(databaseUrl);
  url.password = '';
  const parameters = [...url.searchParams].filter(([name]) => !/password/i.test(name));
  url.search = new URLSearchParams(parameters).toString();
  return url.href;
}

/** Quotes a word for a POSIX shell. */
function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
