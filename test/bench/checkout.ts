import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { here } from './processes.ts';

const run = promisify(execFile);
const root = here('../..');

/** Runs git in this checkout. Returns its output without white space at the ends. */
export async function git(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('git', args, { cwd: root });
  return stdout.trim();
}

/** A commit in a folder of its own, with its dependencies. */
export interface Checkout {
  /** Main module of its gateway. */
  server: string;
  commit: string;
  remove(): Promise<void>;
}

/**
 * Checks out a commit. Its dependencies are those of this checkout if its lock file is the same, otherwise npm installs them.
 *
 * @throws Error if the commit does not exist
 */
export async function checkOut(ref: string): Promise<Checkout> {
  const commit = await git('rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`);
  const folder = await mkdtemp(join(tmpdir(), 'unigate-commit-'));
  const remove = async () => {
    await git('worktree', 'remove', '--force', folder);
    await rm(folder, { recursive: true, force: true });
  };
  await git('worktree', 'add', '--detach', folder, commit);
  try {
    const lock = 'package-lock.json';
    const [own, other] = await Promise.all([readFile(join(root, lock)), readFile(join(folder, lock))]);
    if (own.equals(other)) await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    else await run('npm', ['ci', '--omit=dev', '--ignore-scripts'], { cwd: folder });
    return { server: join(folder, 'server/main.ts'), commit, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
