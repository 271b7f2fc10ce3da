import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const main = join(root, 'openapi/tools/breaking/main.ts');
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'breaking-'));
});
afterAll(() => rm(folder, { recursive: true }));

function check(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

test('prints removals compared with a folder as JSON, with the source file', async () => {
  const [http, events, errors] = await Promise.all(
    ['generated/openapi.json', 'generated/asyncapi.json', 'openapi/errors.yaml'].map((name) =>
      readFile(join(root, name), 'utf8'),
    ),
  );
  const openapi = JSON.parse(http ?? '') as { paths: Record<string, unknown> };
  openapi.paths['/v1/once'] = {
    get: { operationId: 'getOnce', responses: { 200: { description: 'Once.' } } },
  };
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(openapi));
  await writeFile(join(folder, 'asyncapi.json'), events ?? '');
  const removed =
    '- { code: removed_code, status: 400, families: [generic], when: Once., remedy: None., retry: never }\n';
  await writeFile(join(folder, 'errors.yaml'), `${errors}${removed}`);
  const { code, stdout } = await check('--base', folder, '--json');
  expect([code, JSON.parse(stdout)]).toEqual([
    1,
    {
      base: `the bundles in ${folder}`,
      passed: false,
      differences: 1,
      unapproved: [
        {
          document: 'openapi',
          rule: 'path-removed',
          severity: 'major',
          at: '#/paths/~1v1~1once',
          change: 'Path `/v1/once` was removed.',
          file: 'openapi/openapi.yaml',
        },
        {
          document: 'errors',
          rule: 'error-code-removed',
          severity: 'major',
          at: 'removed_code',
          change: 'The error code removed_code was removed.',
          file: 'openapi/errors.yaml',
        },
      ],
      approved: [],
      unused: [],
    },
  ]);
}, 60_000);

test('exits with 2 if the base is unknown', async () => {
  const { code, stderr } = await check('--base', 'no-such-ref');
  expect([code, stderr]).toEqual([2, 'no-such-ref is neither a folder nor a git ref.\n']);
}, 60_000);
