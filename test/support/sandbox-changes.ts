import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What the tests of the sandbox by itself look at; what it takes from elsewhere is in here, too. */
export const sandboxInputs: readonly string[] = [
  'server/sandbox/',
  'server/outbound/',
  'test/sandbox/',
  'test/sandbox-media/',
  'test/verification/',
  'client/conformance/contract/',
  'generated/catalogue.ts',
  'generated/event-validators.js',
  'generated/events.ts',
  'package-lock.json',
  'vitest.config.ts',
];

/**
 * The files of these that differ from where the branch has left main, committed or not; on main itself, those that are not
 * committed. Undefined: git cannot say.
 *
 * @param root folder of the project
 */
export async function changedInputs(
  root: string,
  inputs: readonly string[] = sandboxInputs,
): Promise<string[] | undefined> {
  for (const main of ['main', 'origin/main']) {
    const base = await git(root, 'merge-base', 'HEAD', main);
    if (base === undefined) continue;
    const [changed, added] = await Promise.all([
      git(root, 'diff', '--name-only', base.trim()),
      git(root, 'ls-files', '--others', '--exclude-standard'),
    ]);
    if (changed === undefined || added === undefined) return undefined;
    const files = `${changed}${added}`.split('\n');
    return files.filter((file) => inputs.some((input) => file.startsWith(input)));
  }
  return undefined;
}

/** Undefined where git says no, or is not there. */
async function git(root: string, ...args: string[]): Promise<string | undefined> {
  return run('git', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 }).then(
    ({ stdout }) => stdout,
    () => undefined,
  );
}
