import { describe, expect, test } from 'vitest';
import { Unigate } from '../../client/index.ts';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('users', () => {
  const target = useConsole();

  test('creates, changes, disables and finds a user', async () => {
    const page = await target.open('#/users');
    await page.getByRole('button', { name: 'Create user' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create a user' });
    await dialog.getByRole('button', { name: 'Create user' }).click();
    await dialog.getByText('This field is required.').waitFor();
    await expectAccessible(page);
    await dialog.getByLabel('Name').fill('Ada');
    await dialog.getByRole('button', { name: 'Create user' }).click();
    const row = page.getByRole('row').filter({ hasText: 'Ada' });
    await row.getByText('default').waitFor();

    await row.getByRole('button', { name: 'Change' }).click();
    const change = page.getByRole('dialog', { name: 'Change Ada' });
    await change.getByLabel('Role').selectOption('admin');
    await change.getByRole('button', { name: 'Save' }).click();
    await row.getByText('admin').waitFor();

    await row.getByRole('button', { name: 'Grant' }).click();
    const grant = page.getByRole('dialog', { name: 'Grant quota to Ada' });
    await grant.getByText('The first grant opens a wallet').waitFor();
    await expectAccessible(page);
    await grant.getByLabel('Reason').fill('March');
    await grant.getByRole('button', { name: 'Grant' }).click();
    await grant.waitFor({ state: 'detached' });
    await row.getByText('100,000').waitFor();

    await row.getByRole('button', { name: 'Disable' }).click();
    await row.getByText('disabled').waitFor();
    await expectAccessible(page);
    await expectFits(page);

    await page.getByRole('searchbox').fill('nobody');
    await page.getByText('No user has this name.').waitFor();
    await page.getByRole('button', { name: 'Show all users' }).click();
    await row.waitFor();
    expect(await page.getByRole('row').count()).toBe(3);
  });

  test('shows the wallet, budgets, members, keys and statements of a user', async () => {
    const client = new Unigate({ baseUrl: target.gateway.url, apiKey: target.gateway.key });
    const { users, budgets, tokens } = client.admin;
    const { id } = await users.create({ name: 'Harbor Films', group: 'default' });
    const { key } = await tokens.create(id, { name: 'production', unlimited_quota: true });
    const page = await target.open('#/users');
    await page.getByRole('link', { name: 'Harbor Films' }).click();
    await page.getByText('The user has no wallet.').waitFor();
    await page.getByRole('button', { name: 'Grant quota' }).click();
    const grant = page.getByRole('dialog', { name: 'Grant quota to Harbor Films' });
    await grant.getByLabel('Reference').fill('payment-7');
    await grant.getByLabel('Reason').fill('Top-up');
    await grant.getByRole('button', { name: 'Grant' }).click();
    await page.getByRole('region', { name: 'Balance' }).getByText('100,000 quota').waitFor();
    await page.getByRole('region', { name: 'Grants' }).getByText('payment-7').waitFor();
    await expectAccessible(page);

    await new Unigate({ baseUrl: target.gateway.url, apiKey: key }).speech.create({
      model: 'alpha3-tts-flash',
      voice: 'Aria',
      input: 'Good morning.',
    });
    await page.getByRole('tab', { name: 'Budgets' }).click();
    await page.getByRole('button', { name: 'Create budget' }).click();
    const create = page.getByRole('dialog', { name: 'Create a budget' });
    expect(await create.getByLabel('User').count()).toBe(0);
    await create.getByRole('button', { name: 'Create budget' }).click();
    await page.getByText('Monthly budget of all keys').waitFor();
    expect((await budgets.list({ user_id: id })).total).toBe(1);

    await page.getByRole('tab', { name: 'Members' }).click();
    await page.getByRole('button', { name: 'Add member' }).click();
    await page.getByLabel('Name').fill('Ada');
    await page.getByRole('dialog').getByRole('button', { name: 'Add member' }).click();
    await page.getByRole('row').filter({ hasText: 'Ada' }).getByText('developer').waitFor();
    expect(await users.members.list(id)).toMatchObject([{ name: 'Ada', role: 'developer' }]);

    await page.getByRole('tab', { name: 'Keys' }).click();
    await page.getByRole('row').filter({ hasText: 'production' }).waitFor();
    expect(await page.getByRole('main').getByRole('row').getByRole('button').count()).toBe(0);

    await page.getByRole('tab', { name: 'Statements' }).click();
    await page.getByRole('region', { name: 'Charges' }).getByText('production').waitFor();
    const month = new Date().toISOString().slice(0, 7);
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    expect((await started).suggestedFilename()).toBe(`statement-${month}.csv`);
    await expectAccessible(page);
    await page.reload();
    await page.getByRole('region', { name: 'Charges' }).waitFor();
    await expectFits(page);

    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('Disabled', { exact: true }).waitFor();
  });

  test('reports an unknown user', async () => {
    const page = await target.open('#/users?user=404', { failures: [404] });
    await page.getByRole('alert').getByText('there is no such user').waitFor();
  });
});
