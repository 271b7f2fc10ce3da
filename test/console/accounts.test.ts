import { describe, expect, test } from 'vitest';
import { Unigate } from '../../client/index.ts';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('accounts', () => {
  const target = useConsole();
  const client = (apiKey = target.gateway.key) => new Unigate({ baseUrl: target.gateway.url, apiKey });
  const speak = (apiKey: string) =>
    client(apiKey).speech.create({ model: 'alpha3-tts-flash', voice: 'Aria', input: 'Good morning.' });

  /** A customer with a wallet, an owner key and a member of each other role. */
  async function customer() {
    const { users, tokens } = client().admin;
    const { id } = await users.create({ name: 'Hopper Ltd' });
    await users.wallets.grant(id, { amount: 5_000, reference: 'first payment', reason: 'paid' });
    const { key } = await tokens.create(id, { name: 'owner', unlimited_quota: true });
    const keyOf = async (role: 'developer' | 'billing') => {
      const member = await users.members.create(id, { name: `A ${role}`, role });
      const token = { name: role, unlimited_quota: true, member_id: member.id };
      return (await tokens.create(id, token)).key;
    };
    return { id, key, developer: await keyOf('developer'), billing: await keyOf('billing') };
  }

  test('creates an account with a key, renames, disables and enables it', async () => {
    const { key } = await customer();
    const page = await target.open('#/accounts', { key });
    await page.getByText('There are no accounts yet.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create account' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create an account' });
    await dialog.getByRole('button', { name: 'Create account' }).click();
    await dialog.getByText('This field is required.').waitFor();
    await dialog.getByLabel('Name').fill('Paris office');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Create account' }).click();

    const create = page.getByRole('dialog', { name: 'Create a key for Paris office' });
    await create.getByLabel('Name').fill('web');
    await expectAccessible(page);
    await create.getByRole('button', { name: 'Create key' }).click();
    const secret = page.getByRole('dialog', { name: 'Key web created' });
    const accountKey = await secret.locator('.secret code').innerText();
    await secret.getByRole('button', { name: 'Done' }).click();
    expect((await client(accountKey).me.retrieve()).user).toMatchObject({ name: 'Paris office' });
    const row = page.getByRole('row').filter({ hasText: 'office' });
    expect(await row.getByRole('cell').nth(2).innerText()).toBe('1');

    await row.getByRole('button', { name: 'Rename Paris office' }).click();
    const rename = page.getByRole('dialog', { name: 'Rename Paris office' });
    await rename.getByLabel('Name').fill('Lyon office');
    await rename.getByRole('button', { name: 'Save' }).click();
    await row.getByRole('button', { name: 'Disable Lyon office' }).click();
    await page.getByText('The gateway refuses all keys of the account').waitFor();
    await page.getByRole('button', { name: 'Disable account' }).click();
    await row.getByText('disabled').waitFor();
    await expect(client(accountKey).me.retrieve()).rejects.toMatchObject({ status: 401 });
    await expectAccessible(page);
    await expectFits(page);
    await row.getByRole('button', { name: 'Enable Lyon office' }).click();
    await row.getByRole('button', { name: 'Disable Lyon office' }).waitFor();
    await client(accountKey).me.retrieve();
  });

  test('lists the keys of an account and revokes one', async () => {
    const { key } = await customer();
    const { accounts } = client(key).me;
    const { id } = await accounts.create({ name: 'Paris office' });
    const web = await accounts.createToken(id, { name: 'web', unlimited_quota: true });
    await client(web.key).tokens.create({ name: 'child', unlimited_quota: true });
    await accounts.createToken(id, { name: 'trial', remain_quota: 500 });
    const page = await target.open('#/accounts', { key });
    await page.getByRole('button', { name: 'Keys of Paris office' }).click();
    const dialog = page.getByRole('dialog', { name: 'Keys of Paris office' });
    await dialog.getByRole('row').filter({ hasText: 'trial' }).waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Revoke web' }).click();
    await page.getByText('Keys created with it are revoked as well: child.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Revoke key' }).click();
    // The heading and the other key.
    await expect.poll(() => dialog.getByRole('row').count()).toBe(2);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect(client(web.key).me.retrieve()).rejects.toMatchObject({ status: 401 });
    const row = page.getByRole('row').filter({ hasText: 'Paris office' });
    await expect.poll(() => row.getByRole('cell').nth(2).innerText()).toBe('1');
    await page.getByRole('button', { name: 'Keys of Paris office' }).click();
    await dialog.getByRole('row').filter({ hasText: 'trial' }).waitFor();
    await expectFits(page);
  });

  test('shows why an account that the operator disabled cannot be enabled', async () => {
    const { key } = await customer();
    const { id } = await client(key).me.accounts.create({ name: 'Oslo office' });
    await client().admin.users.update(id, { disabled: true });
    const page = await target.open('#/accounts', { key, failures: [403] });
    await page.getByRole('button', { name: 'Enable Oslo office' }).click();
    await page.getByText('only the operator enables it').waitFor();
  });

  test('links to the usage and the statements of an account', async () => {
    const { key, billing } = await customer();
    const { accounts } = client(key).me;
    const paris = await accounts.create({ name: 'Paris office' });
    const { key: parisKey } = await accounts.createToken(paris.id, { name: 'web', unlimited_quota: true });
    for (const one of [key, parisKey, parisKey]) await speak(one);
    const page = await target.open('#/accounts', { key });
    const row = page.getByRole('row').filter({ hasText: 'Paris office' });
    expect(await row.getByRole('cell').nth(1).innerText()).toBe('26');
    await row.getByRole('link', { name: 'Usage of Paris office' }).click();
    const total = page.getByRole('row', { name: /^Total/ });
    await expect.poll(() => total.getByRole('cell').first().innerText()).toBe('2');
    await page.getByLabel('Account').selectOption('All accounts');
    await expect.poll(() => total.getByRole('cell').first().innerText()).toBe('3');
    await page.getByLabel('Group').selectOption('account');
    await page.getByRole('rowheader', { name: `Paris office (${paris.id})` }).waitFor();
    await page.getByRole('rowheader', { name: /^Hopper Ltd \(/ }).waitFor();
    await page.getByLabel('Group').selectOption('member');
    await page.getByRole('rowheader', { name: '(no member)' }).waitFor();
    await expectAccessible(page);

    await page.goto(`${target.gateway.url}/console#/accounts`);
    await row.getByRole('link', { name: 'Statements of Paris office' }).click();
    const charges = page.getByRole('region', { name: 'Charges' });
    await charges.getByText('26').first().waitFor();
    await page.getByLabel('Account').selectOption('All accounts');
    await charges.getByText('39').first().waitFor();
    await expectAccessible(page);
    await expectFits(page);

    // A billing member reads the figures of accounts, and budgets, and changes nothing.
    await client().admin.budgets.create({ user_id: paris.id, amount: 100, period: 'daily' });
    const { user } = await client(key).me.retrieve();
    await client().admin.budgets.create({ user_id: user.id, amount: 500, period: 'daily' });
    const reader = await target.open(`#/usage?account=${paris.id}`, { key: billing });
    await reader.getByRole('region', { name: 'Budgets' }).waitFor();
    await expect
      .poll(() =>
        reader
          .getByRole('row', { name: /^Total/ })
          .getByRole('cell')
          .first()
          .innerText(),
      )
      .toBe('2');
    await reader.getByLabel('Group').selectOption('key');
    await reader.getByRole('rowheader', { name: /^key \d+$/ }).waitFor();
  });

  test('is shown only to owners of a customer with a wallet', async () => {
    const { key, developer, billing } = await customer();
    const { accounts } = client(key).me;
    const { id } = await accounts.create({ name: 'Paris office' });
    const account = await accounts.createToken(id, { name: 'web', unlimited_quota: true });
    for (const [one, isShown] of [
      [key, true],
      [developer, false],
      [billing, false],
      [account.key, false],
      [target.gateway.key, false],
    ] as const) {
      const page = await target.open('#/', { key: one });
      const link = page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Accounts' });
      expect(await link.count()).toBe(isShown ? 1 : 0);
    }
  });
});
