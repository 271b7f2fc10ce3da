import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { releaseCandidate } from '../../openapi/tools/release/candidate.ts';

const run = promisify(execFile);
const main = join(import.meta.dirname, '../../openapi/tools/release/main.ts');
const changelog =
  '# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-11-01\n\n- New.\n\n## [1.1.0]\n\n- Old.\n';

let root: string;
const git = (...args: string[]) =>
  run('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], { cwd: root });
const commit = async () => {
  await git('add', '--all');
  await git('commit', '--quiet', '--allow-empty', '--message', 'Next');
};
const write = (name: string, value: unknown) =>
  writeFile(join(root, name), typeof value === 'string' ? value : JSON.stringify(value));

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'candidate-'));
  await Promise.all(
    ['client', 'generated', 'test/conformance'].map((name) => mkdir(join(root, name), { recursive: true })),
  );
  await write('package.json', { version: '1.2.0' });
  await write('package-lock.json', { version: '1.2.0' });
  await write('client/package.json', { version: '1.2.0' });
  await write('test/conformance/package.json', { version: '1.2.0' });
  await write('generated/openapi.json', { info: { version: '1.2.0' } });
  await write('generated/asyncapi.json', { info: { version: '1.2.0' } });
  await write('CHANGELOG.md', changelog);
  await git('init', '--quiet');
  await commit();
});
afterEach(() => rm(root, { recursive: true }));

test('a committed version with a changelog section can be released', async () => {
  expect(await releaseCandidate(root)).toMatchObject({ tag: 'v1.2.0', notes: '- New.', obstacles: [] });
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  ['with uncommitted changes', () => write('new.txt', 'New.'), /uncommitted changes:\n\?\? new\.txt/],
  ['with its tag', () => git('tag', 'v1.2.0'), /tag v1\.2\.0 exists/],
  [
    'without a changelog section',
    () => write('CHANGELOG.md', changelog.replace('1.2.0', '1.3.0')).then(commit),
    /no section \[1\.2\.0\]/,
  ],
  [
    'with an empty changelog section',
    () => write('CHANGELOG.md', changelog.replace('- New.', '')).then(commit),
    /no section \[1\.2\.0\]/,
  ],
  [
    'that differs from the client',
    () => write('client/package.json', { version: '1.1.0' }).then(commit),
    /client\/package\.json has version 1\.1\.0/,
  ],
  [
    'that differs from the conformance kit',
    () => write('test/conformance/package.json', { version: '1.1.0' }).then(commit),
    /test\/conformance\/package\.json has version 1\.1\.0/,
  ],
  [
    'that differs from the lock file',
    () => write('package-lock.json', { version: '1.1.0' }).then(commit),
    /package-lock\.json has version 1\.1\.0/,
  ],
  [
    'that differs from the contract',
    () => write('generated/asyncapi.json', { info: {} }).then(commit),
    /asyncapi\.json has version undefined/,
  ],
])('a version %s is rejected before the build', async (_, change, message) => {
  await change();
  const { obstacles } = await releaseCandidate(root);
  expect(obstacles).toEqual([expect.stringMatching(message)]);
  const out = join(root, 'out');
  const rejected = run(process.execPath, [main, '--root', root, '--out', out]);
  await expect(rejected).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
  expect((await git('status', '--porcelain')).stdout).not.toContain('out');
});

/** Writes a contract with fields in a response, and commits it. */
const writeContract = async (fields: readonly string[]) => {
  const properties = Object.fromEntries(fields.map((name) => [name, { type: 'string' }]));
  const content = { 'application/json': { schema: { type: 'object', properties } } };
  const responses = { 200: { description: 'Done.', content } };
  await write('generated/openapi.json', {
    openapi: '3.1.0',
    info: { title: 'Test', version: '1.2.0' },
    paths: { '/song': { get: { operationId: 'getSong', responses } } },
  });
  const asyncapi = { asyncapi: '3.0.0', info: { title: 'Test', version: '1.2.0' }, channels: {} };
  await write('generated/asyncapi.json', asyncapi);
  await commit();
};

test.each<[string, string, string[], string, RegExp | undefined]>([
  [
    'a removed field',
    'v1.1.0',
    ['id'],
    '',
    /1\.2\.0 is too small .* since v1\.1\.0.* major\. Use 2\.0\.0 or later/,
  ],
  ['a removed field before 1.0.0', 'v0.1.0', ['id'], '', undefined],
  ['an added field', 'v1.1.0', ['id', 'note', 'more'], '', undefined],
  ['a removed field', 'v1.2.0-rc.1', ['id'], '', undefined],
  ['the same contract', 'v1.1.9', ['id', 'note'], '', undefined],
  ['a removed field that affects no client', 'v1.1.0', ['id'], 'bump: minor', undefined],
])('%s since %s is compared with the version', async (_, tag, fields, bump, message) => {
  await writeContract(['id', 'note']);
  await git('tag', tag);
  if (bump !== '') {
    await mkdir(join(root, 'openapi'));
    const at = '#/paths/~1song/get/responses/200/content/application~1json/schema/properties/note';
    const change = 'Property `note` was removed.';
    await write(
      'openapi/approved-changes.yaml',
      `- { at: '${at}', change: '${change}', reason: It was never sent., ${bump} }\n`,
    );
  }
  await writeContract(fields);
  const { obstacles } = await releaseCandidate(root);
  expect(obstacles).toEqual(message === undefined ? [] : [expect.stringMatching(message)]);
});

test('a failed build leaves no files', async () => {
  const out = join(root, 'out');
  const failed = run(process.execPath, [main, '--dry-run', '--root', root, '--out', out]);
  await expect(failed).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('openapi') });
  expect((await git('status', '--porcelain')).stdout).toBe('');
});

test.each([
  [['--wet'], /Unknown option '--wet'/],
  [['--root', tmpdir()], /package\.json/],
])('%j is rejected with a message', async (args, message) => {
  const rejected = run(process.execPath, [main, ...args]);
  await expect(rejected).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
});
