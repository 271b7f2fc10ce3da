import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { commitsToCheck, problemsOf } from './commit-messages.ts';

const run = promisify(execFile);

test.each([
  'feat(video): accept input.media as a literal key',
  'fix: return 404 for an unknown key',
  'docs!: rename the guides\n\nThe old names were hard to find.\n\nBREAKING CHANGE: the pages have other addresses.',
  `test: ${'a'.repeat(66)}`,
  `fix: return 404\n\n${'a'.repeat(200)}`,
])('accepts "%s"', async (message) => {
  expect(await problemsOf(message)).toEqual([]);
});

test.each([
  ['Fix the key', 'type may not be empty'],
  ['style: format the code', /type must be one of \[feat, fix, .*\]/],
  ['FIX: return 404', 'type must be lower-case'],
  ['fix: ', 'subject may not be empty'],
  ['fix: return 404.', 'subject may not end with full stop'],
  ['fix: Return 404', /subject must not be sentence-case/],
  [`fix: ${'a'.repeat(68)}`, /header must not be longer than 72 characters/],
])('refuses "%s"', async (message, problem) => {
  expect(await problemsOf(message)).toEqual(expect.arrayContaining([expect.stringMatching(problem)]));
});

describe('the commits to check', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unigate-commits-'));
    await git('init', '--quiet', '--initial-branch=main');
  });
  afterEach(() => rm(folder, { recursive: true }));

  const git = async (...args: string[]) => {
    const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
    const { stdout } = await run('git', [...identity, ...args], { cwd: folder });
    return stdout.trim();
  };
  /** Creates a commit and returns its hash. */
  const commit = async (message: string) => {
    await git('commit', '--quiet', '--allow-empty', `--message=${message}`);
    return git('rev-parse', 'HEAD');
  };
  const subjects = async (exempt: string) =>
    (await commitsToCheck(folder, exempt))?.map(({ message }) => message.split('\n')[0]);

  test('on main, are those after the exempt one', async () => {
    await commit('Old');
    const exempt = await commit('Last old');
    await commit('feat: first\n\nWith a body.');
    await commit('fix: second');
    expect(await subjects(exempt)).toEqual(['fix: second', 'feat: first']);
  });

  test('on main, are those after the last release tag', async () => {
    const exempt = await commit('Old');
    await commit('feat: first');
    await git('tag', 'v1.0.0');
    await commit('fix: second');
    expect(await subjects(exempt)).toEqual(['fix: second']);
  });

  test('on a branch, are those since it left main, without merges', async () => {
    const exempt = await commit('Old');
    await commit('feat: on main');
    await git('checkout', '--quiet', '-b', 'topic');
    await commit('fix: on the branch');
    await git('checkout', '--quiet', 'main');
    await commit('feat: later on main');
    await git('checkout', '--quiet', 'topic');
    await git('merge', '--quiet', '--no-edit', 'main');
    expect(await subjects(exempt)).toEqual(['fix: on the branch']);
  });

  test('on a branch that left main before the exempt commit, exclude it and its ancestors', async () => {
    await commit('Old');
    await git('checkout', '--quiet', '-b', 'topic');
    const exempt = await commit('Also old');
    await commit('fix: new');
    expect(await subjects(exempt)).toEqual(['fix: new']);
  });

  test('are unknown in a shallow clone', async () => {
    const exempt = await commit('Old');
    await commit('feat: first');
    const clone = join(folder, 'clone');
    await git('clone', '--quiet', '--depth=1', `file://${folder}`, clone);
    expect(await commitsToCheck(clone, exempt)).toBeUndefined();
  });

  test('are unknown without git history', async () => {
    await rm(join(folder, '.git'), { recursive: true });
    expect(await commitsToCheck(folder, 'abc')).toBeUndefined();
  });

  test('are unknown if the exempt commit does not exist and main has no tag', async () => {
    await commit('Old');
    expect(await commitsToCheck(folder, 'f'.repeat(40))).toBeUndefined();
  });
});
