import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** npm scripts that check the code and the contract without running the server. */
const scripts = [
  'typecheck',
  'lint:spec',
  'lint:code',
  'lint:format',
  'lint:prose',
  'lint:commits',
  'lint:unused',
  'check:breaking',
] as const;

test.each(scripts)('npm run %s', { timeout: 600_000 }, async (script) => {
  // Windows finds npm only through a shell.
  const options = { cwd: root, maxBuffer: 2 ** 26, shell: process.platform === 'win32' };
  const output = await promisify(execFile)('npm', ['run', '--silent', script], options).then(
    () => '',
    (error: Error & { stdout: string; stderr: string }) => `${error.stdout}${error.stderr}` || error.message,
  );
  expect(output).toBe('');
});
