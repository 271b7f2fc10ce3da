import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

// `npm run typecheck` leaves this folder out, because `npm ci` does not install its packages.
test('the code of this folder compiles', async () => {
  const tsc = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');
  const output = await promisify(execFile)(process.execPath, [
    tsc,
    '--noEmit',
    '-p',
    import.meta.dirname,
  ]).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
  expect(output).toBe('');
});
