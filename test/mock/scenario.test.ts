import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFlags } from './flags.ts';
import { startMock } from './server.ts';

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unigate-scenario-'));
  file = join(folder, 'scenario.yaml');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const read = async (text: string) => {
  await writeFile(file, text);
  return readFlags(['--port', '0', '--scenario', file], {});
};

test('a scenario applies from the start, and a mock with the same file starts again with it', async () => {
  const options = await read('listModels: { status: 429, times: 1 }\nall: { delay: 1 }\n');
  for (const _ of [1, 2]) {
    const mock = await startMock(options);
    const status = async () =>
      (await fetch(`${mock.url}/v1/models`, { headers: { authorization: 'Bearer any' } })).status;
    expect([await status(), await status()]).toEqual([429, 200]);
    const { behaviours } = (await (await fetch(`${mock.url}/__mock/state`)).json()) as { behaviours: object };
    expect(behaviours).toEqual({ all: { delay: 1 } });
    await mock.close();
  }
});

test.each([
  ['listModel: { status: 429 }', 'listModel: operation: must be an operationId or all'],
  ['listModels: { status: 418 }', 'listModels: status: 418 is not documented for this operation'],
  ['all: { pause: 1 }', 'all: pause: is unknown'],
  ['- all', 'must contain an object of operations'],
  ['all: {', 'at line'],
])('reports an error in %j with the file', async (text, expected) => {
  const error = await read(text).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(String(error)).toContain(`--scenario ${file}: `);
  expect(String(error)).toContain(expected);
});

test('reports a file that does not exist', async () => {
  await expect(readFlags(['--scenario', '/none/such'], {})).rejects.toThrow(
    '--scenario /none/such is not a readable file',
  );
});
