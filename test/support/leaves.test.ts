import { execFileSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isIn, type Leaf, leaves, looksAt, unchanged } from './leaves.ts';

const sandbox: Leaf = {
  title: 'the sandbox',
  tests: ['test/sandbox/', 'test/sandbox-media/'],
  inputs: ['server/sandbox/'],
};

describe('a leaf', () => {
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

  const due = async () => !(await unchanged(root, [sandbox])).includes(sandbox);

  test('need not run while only other files have', async () => {
    write('server/serve.ts', 'two');
    write('test/sandbox.md', 'new');
    commit();
    expect(await due()).toBe(false);
  });

  test.each([
    ['committed on the branch', 'server/sandbox/voices.ts', true],
    ['not committed', 'server/sandbox/voices.ts', false],
    ['new and not even added', 'test/sandbox-media/new.test.ts', false],
    ['of a package', 'package-lock.json', true],
  ])('is due when something is %s', async (_, file, committed) => {
    write(file, 'two');
    if (committed) commit();
    expect(await due()).toBe(true);
  });

  test('is not compared with what main has become since', async () => {
    git('checkout', '--quiet', 'main');
    write('server/sandbox/voices.ts', 'two');
    commit();
    git('checkout', '--quiet', 'topic');
    expect(await due()).toBe(false);
  });

  test('is due without git', async () => {
    rmSync(join(root, '.git'), { recursive: true });
    expect(await due()).toBe(true);
  });
});

/** Files and folders of the checkout that a file imports or names, from the root; what it takes types from alone is for the compiler. */
function namedIn(file: string): string[] {
  const text = readFileSync(file, 'utf8').replaceAll(/^(import|export) type [^;]*;/gm, '');
  const found = (pattern: RegExp) => Array.from(text.matchAll(pattern), ([, path = '']) => path);
  const near = (path: string) => normalize(join(dirname(file), path));
  if (/\.ya?ml$/.test(file)) return found(/\$ref: ["']?(\.?[^\s"'#,}]+)/g).map(near);
  if (!/\.[jt]s$/.test(file)) return [];
  const quoted = found(/['"`]([\w@.-]+\/[\w@./-]+|@unigate\/\w+)['"`]/g);
  const joined = found(/\b(?:root|repository), ('[\w./-]+'(?:, '[\w./-]+')*)/g).map((parts) =>
    parts.replaceAll("', '", '/').replaceAll("'", ''),
  );
  return [...quoted, ...joined].flatMap((path) => {
    const places = [packages[path] ?? near(path), normalize(path)];
    return places.filter((place) => !/^(\.|node_modules)/.test(place) && existsSync(place)).slice(0, 1);
  });
}

const packages: Readonly<Record<string, string>> = {
  '@unigate/client': 'client/index.ts',
  '@unigate/sandbox': 'server/sandbox/sandbox.ts',
};

/** What the tests of a leaf reach, each with the file that names it. */
function reached(leaf: Leaf): Map<string, string> {
  const paths = new Map(testsOf(leaf).map((test) => [test, '']));
  // What is added on the way is visited too.
  for (const [path] of paths) {
    if (isIn(excused(leaf), path) || !statSync(path).isFile() || path.startsWith('generated/')) continue;
    for (const named of namedIn(path)) if (!paths.has(named)) paths.set(named, path);
  }
  return paths;
}

const excused = ({ elsewhere = {} }: Leaf) => Object.keys(elsewhere);

const testsOf = ({ tests }: Leaf) =>
  tests.flatMap((path) => (path.endsWith('/') ? globSync(`${path}**/*.test.ts`) : [path]));

describe.each(leaves)('of $title', (leaf) => {
  test('all that its tests import and name is looked at', () => {
    const paths = reached(leaf);
    expect(paths.size).toBeGreaterThan(testsOf(leaf).length + 2);
    const missed = [...paths].filter(([path]) => !looksAt(leaf, path) && !isIn(excused(leaf), path));
    expect(missed.map(([path, by]) => `${path}, which ${by} names`)).toEqual([]);
  });

  test('nothing is listed that is not there, and nothing is excused that is not reached', () => {
    expect([...leaf.tests, ...leaf.inputs].filter((path) => !existsSync(path))).toEqual([]);
    const paths = [...reached(leaf).keys()];
    expect(excused(leaf).filter((place) => !paths.some((path) => isIn([place], path)))).toEqual([]);
  });
});
