import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const tools = fileURLToPath(new URL('../../openapi/tools/docs', import.meta.url));

test('an installation without the packages of the documentation succeeds', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unigate-tools-'));
  try {
    await cp(tools, join(folder, 'docs'), { recursive: true });
    const main = join(folder, 'docs', 'main.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [main, '--if-installed']);
    expect(stdout).toMatch(/are not built, because their packages are not installed\.\n$/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
