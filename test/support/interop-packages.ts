import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const folder = fileURLToPath(new URL('../interop/', import.meta.url));

const modifiedMs = (file: string): Promise<number> =>
  stat(folder + file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

/** Installs the SDKs and generators of `test/interop/` if its lock file has changed. `npm ci` leaves them out. */
export default async function installInterop(): Promise<void> {
  // npm writes this file at the end of an installation.
  const installed = await modifiedMs('node_modules/.package-lock.json');
  if (installed > (await modifiedMs('package-lock.json'))) return;
  const args = ['ci', '--ignore-scripts'];
  // Windows finds npm only through a shell.
  await promisify(execFile)('npm', args, { cwd: folder, shell: process.platform === 'win32' });
}
