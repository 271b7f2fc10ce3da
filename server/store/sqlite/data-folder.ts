import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { SettingsError } from '../../settings/settings-error.ts';
import { databaseName } from './connection.ts';

/** Names of the databases in a data folder. */
const databases = ['lock.db', databaseName];
/** Endings of the files that SQLite keeps beside a database. */
const endings = ['', '-wal', '-shm', '-journal'];
const databaseFiles = new Set(databases.flatMap((name) => endings.map((ending) => name + ending)));
/** The usual contents of a data folder: the databases and the state of the sandbox. */
const contents = new Set([...databaseFiles, 'sandbox']);

/**
 * Creates the data folder and its databases for this user only, and removes the access of others from existing ones.
 * A folder with other contents keeps its mode.
 *
 * @throws SettingsError when this user cannot create or write them
 */
export function prepareDataFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    for (const name of databases) createPrivately(join(dataDir, name));
    const names = readdirSync(dataDir);
    if (names.every((name) => contents.has(name))) excludeOthers(dataDir);
    for (const path of names.filter((name) => databaseFiles.has(name)).map((name) => join(dataDir, name))) {
      excludeOthers(path);
      accessSync(path, constants.R_OK | constants.W_OK);
    }
  } catch (cause) {
    throw new SettingsError(`DATA_DIR ${dataDir} ${reasonOf(cause as NodeJS.ErrnoException)}`, { cause });
  }
}

/** Creates an empty file. SQLite gives the files that it creates beside a database the mode of the database. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    // An existing file is not opened: closing it would release the locks that this process has on it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Removes the access of the group and of other users. */
function excludeOthers(path: string): void {
  const { mode } = statSync(path);
  if ((mode & 0o077) === 0) return;
  try {
    chmodSync(path, mode & 0o700);
  } catch (error) {
    // Only the owner can change a mode. A volume can belong to another user and be writable by the group.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}

function reasonOf({ code = '', message, path = '', syscall }: NodeJS.ErrnoException): string {
  if (code === 'EROFS') return 'is on a read-only file system.';
  if (code !== 'EACCES' && code !== 'EPERM')
    return `cannot be ${syscall === 'mkdir' ? 'created' : 'used'}: ${message}.`;
  return `cannot be used: user ${process.geteuid?.()} has no write access to ${path}${ownerNote(path)}.`;
}

function ownerNote(path: string): string {
  try {
    return `, which belongs to user ${statSync(path).uid}`;
  } catch {
    return '';
  }
}
