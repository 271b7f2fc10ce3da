import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../server/docs.ts', import.meta.url));

test('the exported site is complete and has the path of its web server', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unigate-docs-'));
  await promisify(execFile)(process.execPath, [script, '--out', folder, '--base', '/manual']);
  expect(await readdir(folder)).toEqual(expect.arrayContaining(['404.html', 'docs', 'index.html']));
  expect(await readdir(join(folder, 'docs'))).toEqual(
    expect.arrayContaining(['quick-start.html', 'openapi.json', 'asyncapi.json', 'scalar.js', 'llms.txt']),
  );
  const page = await readFile(join(folder, 'docs/quick-start.html'), 'utf8');
  expect(page).toContain('href="/manual/docs/errors"');
  expect(page).toContain('http://127.0.0.1:8080');
  expect(page).not.toContain('__home__/');
  await rm(folder, { recursive: true });
});
