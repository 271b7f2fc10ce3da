import { describe, expect, test } from 'vitest';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('the console', { timeout: 60_000 }, () => {
  const target = useConsole();

  test('signs in with a key, which stays out of the address and the stored data of other tabs', async () => {
    const page = await target.open('#/', { key: '' });
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectAccessible(page);
    await page.getByLabel('API key').fill(target.gateway.key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${target.gateway.url}/console#/`);
    expect(await page.evaluate('Object.values(localStorage)')).not.toContain(target.gateway.key);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  test('shows the error of the gateway for a wrong key', async () => {
    const page = await target.open('#/', { key: '' });
    // The browser itself logs the status 401.
    page.removeAllListeners('console');
    await page.getByLabel('API key').fill('sk-wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.innerText()).toMatch(/^The API key is unknown[^]*req_[0-9a-f]{32}/);
  });

  test('shows the key and the first call', async () => {
    const page = await target.open('#/');
    await page.getByText('unlimited').waitFor();
    await page.getByRole('tab', { name: 'Python' }).click();
    await page.getByText('import requests').waitFor();
    await page.reload();
    await page.getByText('import requests').waitFor();
    await expectAccessible(page);
    await expectFits(page);
    await expectAccessible(page);
  });

  test('finds a page by keyboard', async () => {
    const page = await target.open('#/');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search pages and actions' }).fill('theme');
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    const theme = 'document.documentElement.className + localStorage.getItem("vitepress-theme-appearance")';
    await expect.poll(() => page.evaluate(theme)).toBe('light');
  });

  test('a key without the scope of an operator does not see the pages of operators', async () => {
    const { key } = await createKey();
    const page = await target.open('#/', { key });
    await page.getByRole('navigation', { name: 'Console' }).waitFor();
    expect(await page.getByRole('link', { name: 'Channels' }).count()).toBe(0);
    await page.goto(`${target.gateway.url}/console#/channels`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  });

  test.each(['messages', 'embeddings', 'music', 'video', '3d', 'images'])(
    'the page %s says that the key has no model for it',
    async (path) => {
      const { key } = await createKey({ model_limits_enabled: true, model_limits: 'alpha3-tts-flash' });
      const page = await target.open(`#/${path}`, { key });
      await page.getByText(/^This key has no .* model\.$/).waitFor();
      expect(await page.getByRole('button', { name: /Send|Embed|Create/ }).count()).toBe(0);
    },
  );

  async function createKey(limits: object = {}): Promise<{ key: string }> {
    const response = await fetch(`${target.gateway.url}/api/token/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${target.gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'page', unlimited_quota: true, ...limits }),
    });
    const { data } = (await response.json()) as { data: { key: string } };
    return data;
  }
});
