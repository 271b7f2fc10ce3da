import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SettingsError } from '../../settings/settings-error.ts';

/** Name of the database in a data folder. */
export const databaseName = 'unigate.db';

/** Returns the path of the database in a data folder. @throws SettingsError when there is none */
export function databaseFile(dataDir: string): string {
  const file = join(dataDir, databaseName);
  if (!existsSync(file)) throw new SettingsError(`DATA_DIR ${dataDir} has no database.`);
  return file;
}

/** Longest wait for a lock, in milliseconds. Only checkpoints and other programs hold locks. */
const busyTimeoutMs = 5_000;

/** Opens the only writing connection. `synchronous = full`: a commit is on the disk before it is acknowledged. */
export function openWriter(file: string): DatabaseSync {
  const connection = new DatabaseSync(file, { timeout: busyTimeoutMs });
  connection.exec(`
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma foreign_keys = on;
    pragma temp_store = memory`);
  return connection;
}

/** Opens a read-only connection, which sees committed data. */
export function openReader(file: string): DatabaseSync {
  return new DatabaseSync(file, { timeout: busyTimeoutMs, readOnly: true });
}
