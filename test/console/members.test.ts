import { describe, expect, test } from 'vitest';
import { type Member, Unigate } from '../../client/index.ts';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('members', () => {
  const target = useConsole();
  const client = (apiKey = target.gateway.key) => new Unigate({ baseUrl: target.gateway.url, apiKey });
  const createKeyOf = async (role: Member['role']) => {
    const { id } = await client().me.members.create({ name: `A ${role}`, role });
    return client().tokens.create({ name: `key of a ${role}`, unlimited_quota: true, member_id: id });
  };

  test('adds a member with a key, changes the role and removes the member', async () => {
    const page = await target.open('#/members');
    await page.getByText('There are no members yet.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Add member' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a member' });
    await dialog.getByRole('button', { name: 'Add member' }).click();
    await dialog.getByText('This field is required.').waitFor();
    expect(await dialog.getByRole('radio').count()).toBe(3);
    expect(await dialog.getByRole('radio', { name: 'developer' }).isChecked()).toBe(true);
    await dialog.getByLabel('Name').fill('Ada');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Add member' }).click();

    const create = page.getByRole('dialog', { name: 'Create a key for Ada' });
    await create.getByLabel('Name').fill('laptop');
    await create.getByRole('button', { name: 'Create key' }).click();
    const secret = page.getByRole('dialog', { name: 'Key laptop created' });
    const key = await secret.locator('.secret code').innerText();
    await secret.getByRole('button', { name: 'Done' }).click();
    expect((await client(key).me.retrieve()).member).toMatchObject({ name: 'Ada', role: 'developer' });
    const row = page.getByRole('row').filter({ hasText: 'Ada' });
    expect(await row.getByRole('cell').nth(2).innerText()).toBe('1');

    await row.getByRole('button', { name: 'Change Ada' }).click();
    const change = page.getByRole('dialog', { name: 'Change Ada' });
    await change.getByRole('radio', { name: 'billing' }).check();
    await expectAccessible(page);
    await change.getByRole('button', { name: 'Save' }).click();
    await row.getByText('billing').waitFor();
    expect((await client(key).me.retrieve()).member).toMatchObject({ role: 'billing' });
    await expectAccessible(page);
    await expectFits(page);

    await row.getByRole('button', { name: 'Remove Ada' }).click();
    await page.getByText('The key of the member').waitFor();
    await page.getByRole('button', { name: 'Remove member' }).click();
    await page.getByText('There are no members yet.').waitFor();
    await expect(client(key).me.retrieve()).rejects.toMatchObject({ status: 401 });
  });

  test('shows an owner who has the signed-in key', async () => {
    const { key } = await createKeyOf('owner');
    const page = await target.open('#/members', { key });
    await page.getByRole('row').filter({ hasText: 'A owner' }).getByText('you').waitFor();
    await page.getByRole('button', { name: 'Add member' }).waitFor();
  });

  test('shows a developer the pages of calls and keys only', async () => {
    const { key } = await createKeyOf('developer');
    const page = await target.open('#/', { key });
    expect(await linksOf(page)).toEqual(
      expect.arrayContaining(['Speech', 'Messages', 'Activity', 'Usage', 'Keys', 'Contract']),
    );
    for (const hidden of ['Members', 'Webhooks', 'Statements', 'Users', 'Channels'])
      expect(await linksOf(page)).not.toContain(hidden);
    await page.goto(`${target.gateway.url}/console#/members`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  });

  test('shows a billing member usage, statements and endpoints without a button that changes something', async () => {
    await client().speech.create({ model: 'alpha3-tts-flash', voice: 'Aria', input: 'Good morning.' });
    const { id } = await client().me.endpoints.create({
      url: 'https://app.example/events',
      events: ['quota.exhausted'],
    });
    const { key } = await createKeyOf('billing');
    const page = await target.open('#/', { key });
    expect(await linksOf(page)).toEqual(['Overview', 'Usage', 'Statements', 'Webhooks', 'Contract']);
    await page.getByText('A billing, billing').waitFor();
    expect(await page.getByText('Your first call').count()).toBe(0);
    await expectAccessible(page);

    const open = async (path: string) => {
      await page.goto(`${target.gateway.url}/console#/${path}`);
      await page.waitForLoadState('networkidle');
    };
    await open('usage');
    await page.getByRole('row', { name: /^alpha3-tts-flash/ }).waitFor();
    await expectAccessible(page);
    await open('statements');
    await page.getByRole('region', { name: 'Charges' }).waitFor();
    await open('webhooks');
    await page.getByRole('link', { name: 'https://app.example/events' }).waitFor();
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    await open(`webhooks?endpoint=${id}`);
    await page.getByText('There is no delivery of the last day.').waitFor();
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0);
    await expectAccessible(page);
    await expectFits(page);
    for (const hidden of ['members', 'keys', 'speech', 'activity']) {
      await open(hidden);
      await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    }
  });
});

/** Returns the pages of the sidebar. */
const linksOf = (page: Awaited<ReturnType<ReturnType<typeof useConsole>['open']>>) =>
  page.getByRole('navigation', { name: 'Console' }).getByRole('link').allInnerTexts();
