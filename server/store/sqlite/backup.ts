import { existsSync } from 'node:fs';
import { chmod, mkdtemp, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { SettingsError } from '../../settings/settings-error.ts';
import { fault } from '../fault-points.ts';
import { type Audit, auditLedger } from '../queries/audit.ts';
import { OlderSchemaError, readSnapshot } from '../read-snapshot.ts';
import { databaseFile, databaseName, openReader } from './connection.ts';

export interface Backup {
  /** Absolute path. */
  file: string;
  bytes: number;
  /** Ledger audit of the copy. Null: the database is of an older version, whose ledger this version cannot audit. */
  audit: Audit | null;
}

/**
 * Copies the database of a data folder to a new file, also while a gateway uses it. The file appears only when it is complete,
 * and only its owner can read it.
 *
 * @throws SettingsError when the file exists or cannot be written, or there is no database
 */
export async function backUpDatabase(dataDir: string, target: string): Promise<Backup> {
  const source = databaseFile(dataDir);
  const file = resolve(target);
  requireAbsent(file);
  // In the folder of the file, so that the rename stays within a file system. Only the owner can enter it.
  const folder = await writing(file, () => mkdtemp(`${file}.`));
  try {
    const copy = join(folder, databaseName);
    await writing(file, () => copyDatabase(source, copy));
    fault('backup_copied');
    const audit = await readSnapshot({ dataDir: folder }, auditLedger).catch((error: unknown) => {
      if (error instanceof OlderSchemaError) return null;
      throw error;
    });
    const { size: bytes } = await stat(copy);
    await writing(file, async () => {
      requireAbsent(file);
      await rename(copy, file);
      await flush(dirname(file));
    });
    return { file, bytes, audit };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** In one read transaction, so that writers do not make it start again, as they do with the backup interface. */
async function copyDatabase(source: string, copy: string): Promise<void> {
  const reader = openReader(source);
  try {
    reader.prepare('vacuum into ?').run(copy);
  } finally {
    reader.close();
  }
  await chmod(copy, 0o600);
  await flush(copy);
}

/** Waits until a file or folder is on the disk. */
async function flush(path: string): Promise<void> {
  const handle = await open(path);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function requireAbsent(file: string): void {
  if (existsSync(file)) throw new SettingsError(`${file} exists. A backup does not overwrite a file.`);
}

/** Reports errors of a file system or disk as errors of the file. */
async function writing<T>(file: string, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (cause) {
    if (!(cause instanceof Error) || !('errno' in cause || 'errcode' in cause)) throw cause;
    throw new SettingsError(`${file} cannot be written: ${cause.message}.`, { cause });
  }
}
