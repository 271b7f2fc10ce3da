import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Output of a git command. @throws Error with the message of git */
export async function git(root: string, ...args: string[]): Promise<Buffer> {
  const options = { cwd: root, encoding: 'buffer', maxBuffer: 512 * 1024 * 1024 } as const;
  return (await run('git', args, options)).stdout;
}

export const gitLine = async (root: string, ...args: string[]) => String(await git(root, ...args)).trim();
