import { describe, expect, test } from 'vitest';
import { Unigate } from '../../client/index.ts';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('usage', { timeout: 60_000 }, () => {
  const target = useConsole();
  const client = (apiKey = target.gateway.key) => new Unigate({ baseUrl: target.gateway.url, apiKey });
  const speak = (apiKey?: string) =>
    client(apiKey).speech.create({ model: 'alpha3-tts-flash', voice: 'Aria', input: 'Good morning.' });

  test('shows what to do before the first call', async () => {
    const page = await target.open('#/usage');
    await page.getByText('No calls in this range.').waitFor();
    await expectAccessible(page);
  });

  test('charts the calls of the key, with the same numbers in the table', async () => {
    await speak();
    await client().embeddings.create({ model: 'theta-embedding-1', input: ['one', 'two'] });
    const page = await target.open('#/usage');
    await page.getByRole('img', { name: /^Quota per day by model/ }).waitFor();
    await expect.poll(() => page.evaluate(hasInk)).toBe(true);
    const row = page.getByRole('row', { name: /^alpha3-tts-flash/ });
    expect(await row.getByRole('cell').allInnerTexts()).toEqual(
      expect.arrayContaining(['1', '0', '13', '13 characters']),
    );
    await page.getByRole('tab', { name: 'Characters' }).click();
    await page.getByRole('img', { name: /^Characters per day/ }).waitFor();
    await page.getByLabel('Range').selectOption('Last 24 hours');
    await page.getByRole('tab', { name: 'By hour' }).click();
    await page.getByRole('columnheader', { name: 'Hour' }).waitFor();
    await expectAccessible(page);
    await expectFits(page);
  });

  test('groups by key, and for operators by channel', async () => {
    const { key, id } = await client().tokens.create({ name: 'batch', remain_quota: 100 });
    await speak(key);
    const page = await target.open('#/usage');
    await page.getByLabel('Group').selectOption('key');
    await page.getByRole('rowheader', { name: `batch (${id})` }).waitFor();
    await page.getByLabel('Scope').selectOption('All users');
    await page.getByLabel('Group').selectOption('channel');
    await page.getByRole('rowheader', { name: 'sandbox', exact: true }).waitFor();
  });

  test('shows a limited key its balance', async () => {
    const { key } = await client().tokens.create({ name: 'limited', remain_quota: 1_000 });
    await speak(key);
    const page = await target.open('#/usage', { key });
    await page.getByRole('region', { name: 'Balance' }).getByText('987 quota').waitFor();
    expect(await page.getByLabel('Scope').count()).toBe(0);
  });
});

/** Whether anything is drawn in the chart. */
const hasInk = `(() => {
  const canvas = document.querySelector('.usage-canvas canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value) => value !== 0);
})()`;
