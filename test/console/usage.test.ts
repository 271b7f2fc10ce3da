import { describe, expect, test } from 'vitest';
import { Unigate } from '../../client/index.ts';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('usage', () => {
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

  test('shows the budgets of a key, without buttons to change them', async () => {
    const { key, id } = await client().tokens.create({ name: 'budgeted', remain_quota: 1_000 });
    await client().admin.budgets.create({ token_id: id, amount: 20, period: 'daily', hard: true });
    await speak(key);
    const page = await target.open('#/usage', { key });
    const budgets = page.getByRole('region', { name: 'Budgets' });
    await budgets.getByText(`Daily budget of budgeted (${id})`).waitFor();
    await budgets.getByText('13 of 20 quota, 65 %').waitFor();
    await budgets.getByText('refuses calls').waitFor();
    expect(await budgets.getByRole('progressbar').getAttribute('value')).toBe('13');
    expect(await budgets.getByRole('button').count()).toBe(0);
  });

  test('creates, changes and deletes a budget', async () => {
    const page = await target.open('#/usage', { failures: [400] });
    const budgets = page.getByRole('region', { name: 'Budgets' });
    await budgets.getByRole('button', { name: 'Create budget' }).click();
    const create = page.getByRole('dialog', { name: 'Create a budget' });
    await create.getByLabel('Time zone').fill('Mars/Base');
    await create.getByRole('button', { name: 'Create budget' }).click();
    await create.getByText('must be an IANA time zone').waitFor();
    await expectAccessible(page);
    await create.getByLabel('Time zone').fill('Europe/Berlin');
    await create.getByLabel('Amount').fill('500');
    await create.getByLabel('Thresholds').fill('50, 100');
    await create.getByRole('button', { name: 'Create budget' }).click();
    await budgets.getByText('Monthly budget of all keys').waitFor();
    await budgets.getByText('0 of 500 quota, 0 %').waitFor();

    await budgets.getByRole('button', { name: 'Change the monthly budget of all keys' }).click();
    const change = page.getByRole('dialog', { name: 'Change the budget' });
    expect(await change.getByLabel('Thresholds').inputValue()).toBe('50, 100');
    await change.getByLabel('Amount').fill('0');
    await change.getByRole('button', { name: 'Save' }).click();
    await budgets.getByText('reached').waitFor();
    await expectAccessible(page);
    await expectFits(page);

    await page.getByLabel('Scope').selectOption('All users');
    await budgets.getByRole('button', { name: 'Delete the monthly budget of user 1' }).click();
    const remove = page.getByRole('dialog', { name: 'Delete the budget?' });
    await remove.getByRole('button', { name: 'Delete budget' }).click();
    await budgets.getByText('Monthly budget').waitFor({ state: 'detached' });
  });
});

/** Whether anything is drawn in the chart. */
const hasInk = `(() => {
  const canvas = document.querySelector('.usage-canvas canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value) => value !== 0);
})()`;
