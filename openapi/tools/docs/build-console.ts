import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hashInputs, readText } from './input-hash.ts';

/** Files that the console is built from: itself, the typed client and the contract. */
const inputs = [
  'client',
  'generated/openapi.json',
  'generated/asyncapi.json',
  'generated/errors.ts',
  'node_modules/vite/package.json',
];

/** Builds the console into `generated/site/console/`. Returns false if its inputs have not changed since the last build. */
export async function buildConsole(root: string): Promise<boolean> {
  const target = join(root, 'generated/site');
  const hash = await hashInputs(root, '', inputs);
  if ((await readText(join(target, 'console.sha256'))) === hash) return false;
  await mkdir(target, { recursive: true });
  await promisify(execFile)('npm', ['run', '--silent', 'build', '--workspace', '@unigate/console'], {
    cwd: root,
  });
  await writeFile(join(target, 'console.sha256'), hash);
  return true;
}
