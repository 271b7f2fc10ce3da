import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore } from '../../server/store/open-store.ts';

let folder: string;
let dataDir: string;
let umask: number;

beforeEach(async () => {
  umask = process.umask(0);
  folder = await mkdtemp(join(tmpdir(), 'unigate-modes-'));
  dataDir = join(folder, 'parent', 'data');
});
afterEach(async () => {
  process.umask(umask);
  await rm(folder, { recursive: true });
});

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

/** Returns the mode of the data folder as `.`, and those of its files, while a store is open. */
async function modes(): Promise<Record<string, string>> {
  const store = await openStore({ dataDir });
  try {
    const names = await readdir(dataDir);
    const found = names.map(async (name) => [name, await modeOf(join(dataDir, name))] as const);
    return Object.fromEntries([['.', await modeOf(dataDir)], ...(await Promise.all(found))]);
  } finally {
    await store.close();
  }
}

const privateFiles = {
  'lock.db': '600',
  'lock.db-journal': '600',
  'unigate.db': '600',
  'unigate.db-shm': '600',
  'unigate.db-wal': '600',
};

test('only the user of the gateway can open a new data folder and its files, whatever the umask', async () => {
  expect(await modes()).toEqual({ '.': '700', ...privateFiles });
  expect(await modeOf(join(folder, 'parent'))).toBe('700');
});

test('a start removes the access of others from existing files, also after a kill', async () => {
  await mkdir(dataDir, { recursive: true });
  for (const name of ['lock.db', 'unigate.db', 'unigate.db-wal', 'unigate.db-shm'])
    await writeFile(join(dataDir, name), '', { mode: 0o664 });
  await chmod(dataDir, 0o755);
  expect(await modes()).toEqual({ '.': '700', ...privateFiles });
});

test('a folder with other contents keeps its mode, and so do these', async () => {
  await mkdir(dataDir, { recursive: true });
  await writeFile(join(dataDir, 'page.html'), '', { mode: 0o644 });
  await chmod(dataDir, 0o755);
  expect(await modes()).toEqual({ '.': '755', 'page.html': '644', ...privateFiles });
});
