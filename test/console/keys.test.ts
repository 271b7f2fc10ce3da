import { describe, expect, test } from 'vitest';
import { Unigate } from '../../client/index.ts';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('keys', () => {
  const target = useConsole();
  const client = (apiKey = target.gateway.key) => new Unigate({ baseUrl: target.gateway.url, apiKey });

  test('creates a key, shows its secret once and reports a problem at its field', async () => {
    const page = await target.open('#/keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    const submit = dialog.getByRole('button', { name: 'Create key' });
    await submit.click();
    await dialog.getByText('This field is required.').waitFor();
    await dialog.getByLabel('Name').fill('front end');
    await dialog.getByText('More options').click();
    await dialog.getByLabel('Addresses').fill('nowhere');
    await expectAccessible(page);
    // The browser itself logs the status 400.
    page.removeAllListeners('console');
    await submit.click();
    const problem = dialog.getByRole('alert');
    await problem.waitFor();
    expect(await problem.innerText()).toContain('"nowhere" is not an IP address');
    await dialog.getByLabel('Addresses').fill('127.0.0.1');
    await dialog.getByRole('checkbox', { name: 'alpha3-tts-flash', exact: true }).check();
    await submit.click();
    await dialog.getByText('Store the secret now.').waitFor();
    await expectAccessible(page);
    const key = await dialog.locator('.secret code').innerText();
    const { key: created, models } = await client(key).me.retrieve();
    expect(created).toMatchObject({ name: 'front end', remain_quota: 100_000, allow_ips: '127.0.0.1' });
    expect(models).toEqual(['alpha3-tts-flash']);

    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('row').filter({ hasText: 'front end' }).waitFor();
    expect(await page.content()).not.toContain(key);
    await expectAccessible(page);
    await expectFits(page);
  });

  test('names the keys that are revoked together, and revokes them', async () => {
    const parent = await client().tokens.create({ name: 'parent', remain_quota: 100 });
    await client(parent.key).tokens.create({ name: 'child', remain_quota: 10 });
    const page = await target.open('#/keys');
    await page.getByRole('button', { name: 'Revoke parent' }).click();
    await page.getByText('One key created with it is revoked as well:').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Revoke 2 keys' }).click();
    await page.getByRole('row').filter({ hasText: 'parent' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('row').filter({ hasText: 'child' }).count()).toBe(0);
  });

  test('lets an admin grant quota and change a limit without the others', async () => {
    const { id, key } = await client().tokens.create({ name: 'trial', remain_quota: 100, sockets: 3 });
    const page = await target.open('#/keys');
    await page.getByRole('tab', { name: 'All keys' }).click();
    await page.getByLabel('Search keys by name').fill('trial');
    await page.getByRole('button', { name: 'Grant quota to trial' }).click();
    await page.getByLabel('Amount').fill('900');
    await page.getByLabel('Reason').fill('March');
    await page.getByText('100 left + 900 = 1,000').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Grant' }).click();
    await page.getByText('1,000 left').waitFor();

    await page.getByRole('button', { name: 'Change the limits of trial' }).click();
    await page.getByLabel('Requests per minute').fill('60');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('60 requests/min').waitFor();
    expect((await client(key).me.retrieve()).key).toMatchObject({
      id,
      requests_per_minute: 60,
      sockets: 3,
      remain_quota: 1_000,
      expired_time: -1,
    });
  });

  test('shows a limited key itself and its own keys', async () => {
    const parent = await client().tokens.create({ name: 'team', remain_quota: 100 });
    await client(parent.key).tokens.create({ name: 'member', remain_quota: 10 });
    const page = await target.open('#/keys', { key: parent.key });
    await page.getByRole('row').filter({ hasText: 'member' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(3);
    expect(await page.getByRole('tab').count()).toBe(0);
  });

  test('signs out when its own key is revoked', async () => {
    const { key } = await client().tokens.create({ name: 'leaked', remain_quota: 100 });
    const page = await target.open('#/keys', { key });
    // The browser itself logs the status 401.
    page.removeAllListeners('console');
    await page.getByRole('button', { name: 'Revoke leaked' }).click();
    await page.getByText('You are signed in with this key').waitFor();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('The key is no longer valid.').waitFor();
  });
});
