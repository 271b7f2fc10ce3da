import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Watch, watchFiles } from '../../../openapi/dev/watch.ts';

let root: string;
let watch: Watch;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'watch-'));
  await mkdir(join(root, 'openapi/paths'), { recursive: true });
  await writeFile(join(root, 'openapi/paths/a.yaml'), 'a');
  await writeFile(join(root, 'openapi/b.yaml'), 'b');
  watch = watchFiles(root, ['openapi', 'asyncapi']);
});
afterEach(async () => {
  watch.close();
  await rm(root, { recursive: true });
});

const next = async () => (await watch.next()).paths;

test('a write to a temporary file and a rename count as a save', async () => {
  await writeFile(join(root, 'openapi/paths/a.yaml~'), 'other');
  await rename(join(root, 'openapi/paths/a.yaml~'), join(root, 'openapi/paths/a.yaml'));
  expect(await next()).toEqual(['openapi/paths/a.yaml']);
});

test('a deletion and a move report all affected paths', async () => {
  await rm(join(root, 'openapi/b.yaml'));
  expect(await next()).toEqual(['openapi/b.yaml']);
  await rename(join(root, 'openapi/paths/a.yaml'), join(root, 'openapi/paths/c.yaml'));
  expect(await next()).toEqual(['openapi/paths/a.yaml', 'openapi/paths/c.yaml']);
});

test('concurrent saves are combined and kept until next is called', async () => {
  await Promise.all([
    writeFile(join(root, 'openapi/paths/a.yaml'), 'one'),
    writeFile(join(root, 'openapi/b.yaml'), 'two'),
  ]);
  await expect.poll(() => watch.pending).toBe(true);
  expect(await next()).toEqual(['openapi/b.yaml', 'openapi/paths/a.yaml']);
  expect(watch.pending).toBe(false);
});

test('a file in a new folder is reported after each change', async () => {
  await mkdir(join(root, 'openapi/schemas/music'), { recursive: true });
  await writeFile(join(root, 'openapi/schemas/music/Song.yaml'), 'x');
  expect(await next()).toEqual(['openapi/schemas/music/Song.yaml']);
  await writeFile(join(root, 'openapi/schemas/music/Song.yaml'), 'longer');
  expect(await next()).toEqual(['openapi/schemas/music/Song.yaml']);
  await rm(join(root, 'openapi/schemas'), { recursive: true });
  expect(await next()).toEqual(['openapi/schemas/music/Song.yaml']);
});

test('other files are ignored', async () => {
  await mkdir(join(root, 'openapi/node_modules'));
  await writeFile(join(root, 'openapi/node_modules/x.yaml'), 'x');
  await writeFile(join(root, 'openapi/.a.yaml.swp'), 'x');
  await writeFile(join(root, 'openapi/4913'), 'x');
  await writeFile(join(root, 'openapi/b.yaml'), 'changed');
  expect(await next()).toEqual(['openapi/b.yaml']);
});
