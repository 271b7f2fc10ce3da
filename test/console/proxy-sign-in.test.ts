import { describe, expect, test } from 'vitest';
import { hasChromium } from '../docs/chromium.ts';
import { startTestGateway } from '../support/gateway.ts';
import { newMember } from '../support/members.ts';
import { newUser } from '../support/operator.ts';
import { sendTo } from '../support/two-gateways.ts';
import { assertionSecret, signAssertion } from '../support/user-assertions.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('the console behind a proxy that signs people in', () => {
  const target = useConsole(() => startTestGateway({ userAssertionSecret: assertionSecret }));

  /** Opens the console as a proxy serves it, which adds the assertion of the user to each exchange. */
  async function openAs(user: string, claims: Readonly<Record<string, unknown>> = {}) {
    const page = await target.open('#/', { key: '', failures: [401, 403] });
    let exchanges = 0;
    await page.route('**/api/session', async (route) => {
      exchanges += 1;
      const headers = {
        ...(await route.request().allHeaders()),
        'x-unigate-user-assertion': await signAssertion(user, { claims }),
      };
      await route.continue({ headers });
    });
    await page.reload();
    return { page, exchanges: () => exchanges };
  }

  test('signs in without a key, shows the person, and stays signed out after a sign-out', async () => {
    const user = await newUser(target.gateway, { name: 'Example Ltd' });
    await newMember(target.gateway, user.id, { name: 'Grace', role: 'owner' });
    const { page, exchanges } = await openAs(user.name, { member: 'Grace' });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('banner').getByText('Grace').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectAccessible(page);
    await expectFits(page);
    expect(exchanges()).toBe(1);
    await page.getByRole('button', { name: 'Use single sign-on' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  test('exchanges again once when the session has ended', async () => {
    const user = await newUser(target.gateway, { name: 'Ada' });
    const { page, exchanges } = await openAs(user.name);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const key = String(await page.evaluate('sessionStorage.getItem("unigate-key")'));
    const { text } = await sendTo(target.gateway, key, 'GET', '/api/me');
    const { id } = (JSON.parse(text) as { data: { key: { id: number } } }).data.key;
    expect((await sendTo(target.gateway, key, 'DELETE', `/api/token/${id}`)).status).toBe(200);
    await page.getByRole('link', { name: 'Keys' }).first().click();
    await page.getByRole('cell', { name: 'Session' }).first().waitFor();
    expect(exchanges()).toBe(2);
    expect(await page.evaluate('sessionStorage.getItem("unigate-key")')).not.toBe(key);
  });

  test('shows why the proxy could not sign in, and accepts a key', async () => {
    const { page } = await openAs('Nobody');
    await page.getByText('sub: there is no user with this name.').waitFor();
    await page.getByLabel('API key').fill(target.gateway.key);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
});
