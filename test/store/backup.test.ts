import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Ledger } from '../../server/quota/ledger.ts';
import { backUpStore } from '../../server/store/back-up-store.ts';
import { openStore } from '../../server/store/open-store.ts';
import { auditLedger } from '../../server/store/queries/audit.ts';
import { readSnapshot } from '../../server/store/read-snapshot.ts';
import { backUpDatabase } from '../../server/store/sqlite/backup.ts';
import { compiled } from '../support/child-node.ts';
import { TestStore } from './engines.ts';
import { logEntry, makeToken } from './ledger.ts';

const program = fileURLToPath(new URL('../../server/admin.ts', import.meta.url));

let testStore: TestStore;
let folder: string;
let file: string;
beforeEach(async () => {
  testStore = await TestStore.make('sqlite');
  folder = join(testStore.options.dataDir, 'backups');
  await mkdir(folder);
  file = join(folder, 'copy.db');
});
afterEach(() => testStore.remove());

/** Starts the command. Returns the process, whose environment is only what the command needs. */
function start(...parameters: string[]) {
  const { dataDir } = testStore.options;
  const env = { PATH: process.env.PATH, ...compiled, DATA_DIR: dataDir, FAULT_POINT: 'backup_copied' };
  return spawn(process.execPath, [program, ...parameters], { env, stdio: 'ignore' });
}

/** Makes a copy the database of a new data folder. Returns the folder. */
async function restore(copy: string): Promise<string> {
  const dataDir = join(folder, 'restored');
  await mkdir(dataDir);
  await cp(copy, join(dataDir, 'unigate.db'));
  return dataDir;
}

test('a backup during calls is consistent, readable by its owner only, and starts a gateway', async () => {
  const store = await testStore.open();
  await store.run('recordHeartbeat', { id: 'live', heartbeat: 0 });
  const ledger = new Ledger(store, 'live');
  const token = await makeToken(store, { remainQuota: 1_000_000 });
  let isRunning = true;
  let calls = 0;
  const spend = async () => {
    while (isRunning) {
      const requestId = `r${(calls += 1)}`;
      await ledger.reserve({ requestId, token, model: 'm', unit: 'characters', amount: 10 });
      if (calls % 5 > 0) await ledger.settle({ requestId, charged: 7, log: logEntry });
    }
  };
  const spending = [spend(), spend(), spend()];
  await expect.poll(() => calls).toBeGreaterThan(50);
  const { bytes, audit } = await backUpDatabase(testStore.options.dataDir, file);
  isRunning = false;
  await Promise.all(spending);

  expect(audit).toMatchObject({ keys: 1, granted: 1_000_000, problems: [] });
  expect(audit?.closed).toBeGreaterThan(0);
  expect(await readdir(folder)).toEqual(['copy.db']);
  const { size, mode } = await stat(file);
  expect([size, mode & 0o777]).toEqual([bytes, 0o600]);

  const dataDir = await restore(file);
  const restored = await openStore({ dataDir });
  try {
    const alone = { id: 'restored', heartbeat: 0, alone: true };
    expect(await restored.run('recordHeartbeat', alone)).toMatchObject({ others: [] });
    const released = await restored.run('releaseOrphans', { now: 1, dueNow: 1 });
    expect(released.reservations).toBe(audit?.open);
    expect(
      await restored.read.selectFrom('ledger').where('state', '=', 'open').selectAll().execute(),
    ).toEqual([]);
  } finally {
    await restored.close();
  }
  expect(await readSnapshot({ dataDir }, auditLedger)).toMatchObject({ held: 0, open: 0, problems: [] });
});

test('a backup does not overwrite a file and reports a folder that it cannot write', async () => {
  await testStore.open();
  const { dataDir } = testStore.options;
  await writeFile(file, 'mine');
  await expect(backUpDatabase(dataDir, file)).rejects.toThrow(`${file} exists.`);
  expect(await readdir(folder)).toEqual(['copy.db']);
  const missing = join(folder, 'missing', 'copy.db');
  await expect(backUpDatabase(dataDir, missing)).rejects.toThrow(`${missing} cannot be written: ENOENT`);
  await expect(backUpDatabase(folder, join(folder, 'other.db'))).rejects.toThrow('has no database');
});

test('a backup that is killed leaves no file, and the next one succeeds', async () => {
  await testStore.open();
  const [, signal] = await once(start('backup', file), 'exit');
  expect(signal).toBe('SIGKILL');
  expect(await readdir(folder)).toEqual([expect.stringMatching(/^copy\.db\..{6}$/)]);
  await backUpDatabase(testStore.options.dataDir, file);
  expect(await readdir(folder)).toContain('copy.db');
});

test('the command prints the path, the size and the audit of the copy', async () => {
  const store = await testStore.open();
  await makeToken(store, { remainQuota: 100 });
  const env = { PATH: process.env.PATH, ...compiled, DATA_DIR: testStore.options.dataDir };
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'backup', file], { env });
  const { size } = await stat(file);
  const lines = [`file      ${file}`, `bytes     ${size}`, 'keys      1', 'granted   100'];
  expect(stdout.split('\n').slice(0, 4)).toEqual(lines);
});

test('a database of an older version is copied without an audit', async () => {
  const store = await testStore.open();
  await makeToken(store, { remainQuota: 100 });
  await store.close();
  const { dataDir } = testStore.options;
  const database = new DatabaseSync(join(dataDir, 'unigate.db'));
  database.exec('delete from schema_migrations; alter table grants rename to older_grants');
  database.close();
  expect(await backUpDatabase(dataDir, file)).toEqual({ file, bytes: (await stat(file)).size, audit: null });
  const env = { PATH: process.env.PATH, ...compiled, DATA_DIR: dataDir };
  const other = join(folder, 'other.db');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, 'backup', other], { env });
  expect(stdout.split('\n')[0]).toBe(`file   ${other}`);
  expect(stdout + stderr).toContain(
    'Its ledger was not audited, because the database is of an older version.',
  );
});

test('a PostgreSQL database is left to pg_dump, without its password', async () => {
  const databaseUrl = 'postgres://me:secret@db.example:5432/unigate?sslmode=require&sslpassword=secret';
  const failure = await backUpStore({ dataDir: '.data', databaseUrl }, "it's.dump").catch(
    (error: unknown) => (error as Error).message,
  );
  expect(failure).toBe(
    "DATABASE_URL names a PostgreSQL database. Back it up with: pg_dump --format=custom --file='it'\\''s.dump' 'postgres://me@db.example:5432/unigate?sslmode=require'",
  );
});
