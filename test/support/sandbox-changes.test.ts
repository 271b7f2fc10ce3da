import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { changedInputs, sandboxInputs } from './sandbox-changes.ts';

describe('what the sandbox by itself depends on', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'unigate-branch-'));
    git('init', '--quiet', '--initial-branch=main');
    write('server/sandbox/voices.ts', 'one');
    write('server/serve.ts', 'one');
    commit();
    git('checkout', '--quiet', '-b', 'topic');
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function git(...args: string[]): void {
    const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.org'];
    execFileSync('git', [...author, ...args], { cwd: root, stdio: 'ignore' });
  }
  function write(file: string, text: string): void {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  function commit(): void {
    git('add', '.');
    git('commit', '--quiet', '-m', 'x');
  }

  test('has not changed while only other files have', async () => {
    write('server/serve.ts', 'two');
    write('test/sandbox.md', 'new');
    commit();
    expect(await changedInputs(root)).toEqual([]);
  });

  test.each([
    ['committed on the branch', 'server/sandbox/voices.ts', true],
    ['not committed', 'server/sandbox/voices.ts', false],
    ['new and not even added', 'test/sandbox-media/new.test.ts', false],
    ['of a package', 'package-lock.json', true],
  ])('has changed when it is %s', async (_, file, committed) => {
    write(file, 'two');
    if (committed) commit();
    expect(await changedInputs(root)).toEqual([file]);
  });

  test('is not compared with what main has become since', async () => {
    git('checkout', '--quiet', 'main');
    write('server/sandbox/voices.ts', 'two');
    commit();
    git('checkout', '--quiet', 'topic');
    expect(await changedInputs(root)).toEqual([]);
  });

  test('cannot be told without git', async () => {
    rmSync(join(root, '.git'), { recursive: true });
    expect(await changedInputs(root)).toBeUndefined();
  });
});

test('whatever the sandbox and its tests import is looked at', () => {
  const files = globSync('{server/sandbox,test/sandbox,test/sandbox-media}/**/*.ts', {
    exclude: ['**/node_modules/**'],
  });
  const imports = files.flatMap((file) =>
    Array.from(readFileSync(file, 'utf8').matchAll(/from '(\.\.?\/[^']+)'/g), ([, path = '']) =>
      normalize(join(dirname(file), path)),
    ),
  );
  expect(imports.length).toBeGreaterThan(100);
  expect(imports.filter((path) => !sandboxInputs.some((input) => path.startsWith(input)))).toEqual([]);
});
