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
  await git('commit', '--quiet', '--message', 'Next');
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

test('a committed version with its part of the changelog can be released', async () => {
  expect(await releaseCandidate(root)).toMatchObject({ tag: 'v1.2.0', notes: '- New.', obstacles: [] });
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  ['that is not committed', () => write('new.txt', 'New.'), /not committed:\n\?\? new\.txt/],
  ['with its tag', () => git('tag', 'v1.2.0'), /tag v1\.2\.0 exists/],
  [
    'without a part of the changelog',
    () => write('CHANGELOG.md', changelog.replace('1.2.0', '1.3.0')).then(commit),
    /no section \[1\.2\.0\]/,
  ],
  [
    'with an empty part of the changelog',
    () => write('CHANGELOG.md', changelog.replace('- New.', '')).then(commit),
    /no section \[1\.2\.0\]/,
  ],
  [
    'that the client does not have',
    () => write('client/package.json', { version: '1.1.0' }).then(commit),
    /client\/package\.json has version 1\.1\.0/,
  ],
  [
    'that the conformance kit does not have',
    () => write('test/conformance/package.json', { version: '1.1.0' }).then(commit),
    /test\/conformance\/package\.json has version 1\.1\.0/,
  ],
  [
    'that the lock file does not have',
    () => write('package-lock.json', { version: '1.1.0' }).then(commit),
    /package-lock\.json has version 1\.1\.0/,
  ],
  [
    'that the contract does not have',
    () => write('generated/asyncapi.json', { info: {} }).then(commit),
    /asyncapi\.json has version undefined/,
  ],
])('a version %s is refused before anything is built', async (_, change, words) => {
  await change();
  const { obstacles } = await releaseCandidate(root);
  expect(obstacles).toEqual([expect.stringMatching(words)]);
  const out = join(root, 'out');
  const refused = run(process.execPath, [main, '--root', root, '--out', out]);
  await expect(refused).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(words) });
  expect((await git('status', '--porcelain')).stdout).not.toContain('out');
});

test('a build that fails leaves nothing behind', async () => {
  const out = join(root, 'out');
  const failed = run(process.execPath, [main, '--dry-run', '--root', root, '--out', out]);
  await expect(failed).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('openapi') });
  expect((await git('status', '--porcelain')).stdout).toBe('');
});

test.each([
  [['--wet'], /Unknown option '--wet'/],
  [['--root', tmpdir()], /package\.json/],
])('%j is refused in words', async (args, words) => {
  const refused = run(process.execPath, [main, ...args]);
  await expect(refused).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(words) });
});
