import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { Unigate } from '../../client/index.ts';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('statements', () => {
  const target = useConsole();
  const client = (apiKey = target.gateway.key) => new Unigate({ baseUrl: target.gateway.url, apiKey });
  const month = new Date().toISOString().slice(0, 7);

  test('shows a month without charges', async () => {
    const page = await target.open('#/statements');
    await page.getByText('No call or task ended in this month.').waitFor();
    await expectAccessible(page);
  });

  test('adds up from the opening to the closing balance, as CSV and on paper', async () => {
    const { key, id } = await client().tokens.create({ name: 'front end', remain_quota: 1_000 });
    for (const apiKey of [key, target.gateway.key])
      await client(apiKey).speech.create({
        model: 'alpha3-tts-flash',
        voice: 'Aria',
        input: 'Good morning.',
      });
    const page = await target.open('#/statements');
    const balance = page.getByRole('region', { name: 'Balance of the month' });
    await balance.waitFor();
    expect(await balance.getByRole('row').allInnerTexts()).toEqual([
      'Line\tBalance',
      'Opening balance\t0',
      'Grants\t+1,000',
      'Charges\t-13',
      'Closing balance\t987',
    ]);
    const charges = page.getByRole('region', { name: 'Charges' });
    await charges.getByText(`front end (${id})`).waitFor();
    expect((await charges.getByRole('row').allInnerTexts()).at(-1)).toBe('Sum\t\t\t2\t26\t13');
    await expectAccessible(page);

    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const download = await started;
    expect(download.suggestedFilename()).toBe(`statement-${month}.csv`);
    expect(await readFile(await download.path(), 'utf8')).toContain('"charge"');

    await page.evaluate('window.print = () => { document.title = "printed"; }');
    await page.getByRole('button', { name: 'Print' }).click();
    expect(await page.title()).toBe('printed');
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('navigation').isVisible()).toBe(false);
    await page.getByRole('heading', { name: /^Statement of .* for / }).waitFor();
    await page.emulateMedia({ media: 'screen' });
    await expectFits(page);
  });

  test('selects the month of the address', async () => {
    const page = await target.open(`#/statements?month=${month}`);
    expect(await page.getByRole('combobox', { name: 'Month' }).inputValue()).toBe(month);
    await page.getByText('In progress', { exact: true }).waitFor();
  });

  test('shows an error with its request id', async () => {
    const page = await target.open('#/statements', { failures: [503] });
    const body = { success: false, message: 'The database does not respond.', code: 'unavailable' };
    const headers = { 'x-request-id': 'req-1' };
    await page.route('**/api/me/statements', (route) => route.fulfill({ status: 503, headers, json: body }));
    await page.reload();
    await page.getByRole('alert').getByText('req-1').waitFor();
  });

  test('is hidden from keys that see only themselves', async () => {
    const { key } = await client().tokens.create({ name: 'limited', remain_quota: 1_000 });
    const page = await target.open('#/statements', { key });
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  });
});
