import { describe, expect, test } from 'vitest';
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
});
