import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import conventional from '@commitlint/config-conventional';
import lint from '@commitlint/lint';
import load from '@commitlint/load';

/** The last commit before the check began. It and its ancestors are exempt. */
export const lastExempt = '68c817b58a0447836c4b5c43663b3834be0372b5';

const types = ['feat', 'fix', 'docs', 'test', 'refactor', 'perf', 'build', 'ci', 'chore', 'revert'];

const config = await load({
  ...conventional,
  rules: {
    ...conventional.rules,
    // Bodies quote commands, logs and addresses, which cannot be wrapped.
    'body-max-line-length': [0],
    'footer-max-line-length': [0],
    'header-max-length': [2, 'always', 72],
    'type-enum': [2, 'always', types],
  },
});

/** Returns the rules that a commit message breaks: Conventional Commits, with a header of up to 72 characters. */
export async function problemsOf(message: string): Promise<string[]> {
  const { errors } = await lint(message, config.rules, {
    parserOpts: config.parserPreset?.parserOpts as Record<string, unknown>,
  });
  return errors.map((error) => error.message);
}

export interface Commit {
  hash: string;
  message: string;
}

/**
 * Returns the commits since the last release tag. On a branch, only those since it left main. Undefined if the history
 * is missing, as in a shallow clone or an archive.
 *
 * @param root folder of the repository
 * @param exempt hash of the last exempt commit
 */
export async function commitsToCheck(root: string, exempt = lastExempt): Promise<Commit[] | undefined> {
  const git = (...args: string[]) => runGit(root, ...args);
  const shallow = await git('rev-parse', '--is-shallow-repository');
  if (shallow !== 'false') return undefined;
  const bounds = [
    await git('rev-parse', '--verify', '--quiet', `${exempt}^{commit}`),
    await git('describe', '--tags', '--abbrev=0', '--match', 'v*'),
    await whereItLeftMain(root),
  ].filter((bound) => bound !== undefined);
  if (bounds.length === 0) return undefined;
  const log = await git(
    'log',
    '--no-merges',
    '--format=%h%n%B%x00',
    'HEAD',
    ...bounds.map((bound) => `^${bound}`),
  );
  return log
    ?.split('\0')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [hash = '', ...lines] = entry.split('\n');
      return { hash, message: lines.join('\n') };
    });
}

/** Returns the commit at which a branch left main. Undefined on main itself. */
async function whereItLeftMain(root: string): Promise<string | undefined> {
  const head = await runGit(root, 'rev-parse', '--verify', '--quiet', 'HEAD');
  for (const main of ['main', 'origin/main']) {
    const base = await runGit(root, 'merge-base', 'HEAD', main);
    if (base !== undefined) return base === head ? undefined : base;
  }
  return undefined;
}

/** Returns the output of git. Undefined if git fails or is not installed. */
async function runGit(root: string, ...args: string[]): Promise<string | undefined> {
  return promisify(execFile)('git', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}

async function main(): Promise<void> {
  const commits = await commitsToCheck(fileURLToPath(new URL('../..', import.meta.url)));
  if (commits === undefined) {
    console.log('not checked, because the git history is missing');
    return;
  }
  for (const { hash, message } of commits) {
    const problems = await problemsOf(message);
    if (problems.length === 0) continue;
    console.log(
      `${hash} ${message.split('\n')[0]}\n${problems.map((problem) => `    ${problem}`).join('\n')}`,
    );
    process.exitCode = 1;
  }
  console.log(`${commits.length} commits`);
}

if (import.meta.main) await main();
