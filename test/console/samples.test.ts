import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { hasChromium } from '../docs/chromium.ts';
import { hasPython } from '../docs/snippets.ts';
import { useConsole } from './console.ts';

const run = promisify(execFile);

describe.skipIf(!hasChromium)('the code of a task', () => {
  const target = useConsole();

  test.each([
    ['video', 'createVideo', 'completed'],
    ['video', 'createGenericVideo', 'completed'],
    ['video', 'createNativeVideo', 'SUCCEEDED'],
    ['video', 'createOfficialVideo', 'succeeded'],
    ['3d', undefined, 'SUCCEEDED'],
    ['music', undefined, 'SUCCESS'],
    ['images', undefined, 'SUCCESS'],
  ])('of the page %s waits for its end %s', async (path, format, status) => {
    const page = await target.open(`#/${path}`);
    if (format) await page.getByLabel('Format').selectOption(format);
    const read = async (language: string) => {
      await page.getByRole('tab', { name: language }).click();
      return page.getByRole('region', { name: `${language} code` }).innerText();
    };
    const [shell, python] = [await read('curl'), await read('Python')];
    await page.close();
    const env = { ...process.env, UNIGATE_API_KEY: target.gateway.key };
    expect((await run('bash', ['-c', shell], { env })).stdout).toContain(status);
    if (hasPython) expect((await run('python3', ['-c', python], { env })).stdout).toContain(status);
  });
});
