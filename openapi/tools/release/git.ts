import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What a git command prints, as it is. @throws Error with what git says */
export async function git(root: string, ...args: string[]): Promise<Buffer> {
  const options = { cwd: root, encoding: 'buffer', maxBuffer: 512 * 1024 * 1024 } as const;
  return (await run('git', args, options)).stdout;
}

export const gitLine = async (root: string, ...args: string[]) => String(await git(root, ...args)).trim();
