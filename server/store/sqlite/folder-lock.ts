import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SettingsError } from '../../settings/settings-error.ts';

/**
 * Locks a data folder against other gateways. The lock of a SQLite file is a lock of the operating system, which releases it when the
 * process ends.
 *
 * @throws SettingsError when another gateway, in this or another process, has the lock
 */
export function lockFolder(dataDir: string): { release(): void } {
  const lock = new DatabaseSync(join(dataDir, 'lock.db'), { timeout: 0 });
  try {
    lock.exec('begin exclusive');
  } catch (cause) {
    lock.close();
    if ((cause as { errcode?: number }).errcode !== 5) throw cause;
    throw new SettingsError(`DATA_DIR ${dataDir} is in use by another gateway.`, { cause });
  }
  return { release: () => lock.close() };
}
