import { describe, expect, test } from 'vitest';
import { Unigate } from '../../client/index.ts';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('the console', () => {
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
    await page.getByRole('combobox', { name: 'Search the console' }).fill('theme');
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    const theme = 'document.documentElement.className + localStorage.getItem("vitepress-theme-appearance")';
    await expect.poll(() => page.evaluate(theme)).toBe('light');
  });

  test('finds models, tasks, operations and errors by keyboard', async () => {
    const client = new Unigate({ baseUrl: target.gateway.url, apiKey: target.gateway.key });
    const { id } = await client.videos.create({
      model: 'eta-imagine-video',
      prompt: 'A kite.',
      seconds: '2',
    });
    const page = await target.open('#/');
    const search = page.getByRole('combobox', { name: 'Search the console' });
    const found = page.getByRole('listbox', { name: 'Results' }).getByRole('option');
    const find = async (text: string) => {
      await page.locator('.palette').waitFor({ state: 'detached' });
      await page.keyboard.press('Control+k');
      await search.fill(text);
    };
    await find('eta-imagine-video');
    await found.filter({ hasText: 'Model' }).first().waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Video' }).waitFor();
    expect(await page.getByLabel('Model').inputValue()).toBe('eta-imagine-video');
    await find('task imagine');
    await found.filter({ hasText: id }).click();
    await page.getByRole('complementary', { name: 'Task' }).getByText(id, { exact: true }).waitFor();
    await find(`task_${'0'.repeat(32)}`);
    await found.filter({ hasText: 'Task' }).waitFor();
    await page.keyboard.press('Escape');
    await find('insufficient_user');
    expect(await found.first().innerText()).toMatch(/^insufficient_user_quota\s+Error$/);
    await search.fill('POST embeddings');
    expect(await found.first().innerText()).toMatch(/^createEmbedding\s+Operation$/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/docs\/reference#operation\/createEmbedding/);
  });

  test('selects the model of the address, also when it changes', async () => {
    const page = await target.open('#/speech?model=beta%2Fspeech-02-hd');
    const model = page.getByLabel('Model', { exact: true });
    await expect.poll(() => model.inputValue()).toBe('beta/speech-02-hd');
    const open = (hash: string) => page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await open('#/speech?model=alpha-tts');
    await expect.poll(() => model.inputValue()).toBe('alpha-tts');
    await open('#/speech?model=alpha-tts-realtime');
    await page.getByRole('tab', { name: 'Realtime', selected: true }).waitFor();
    await expect.poll(() => model.inputValue()).toBe('alpha-tts-realtime');
    await open('#/video?model=eta-imagine-video');
    await expect.poll(() => model.inputValue()).toBe('eta-imagine-video');
    await open('#/video?model=gamma3.0-video');
    await expect.poll(() => model.inputValue()).toBe('gamma3.0-video');
    await open('#/voices?model=alpha3-tts-vd-2026-01-26');
    await page.getByRole('tab', { name: 'Design', selected: true }).waitFor();
    await expect.poll(() => model.inputValue()).toBe('alpha3-tts-vd-2026-01-26');
    await open('#/music?model=sigma_lyrics');
    await page.getByRole('tab', { name: 'Lyrics', selected: true }).waitFor();
  });

  test('keeps an address that is opened when the voices of the model before arrive', async () => {
    const page = await target.open('#/');
    await page.clock.install();
    const arrival = Promise.withResolvers<void>();
    await page.route('**/v1/models/beta*', async (call) => {
      const response = await call.fetch();
      await arrival.promise;
      const model = await response.json();
      await call.fulfill({
        response,
        json: { ...model, voices: [{ ...model.voices[0], id: 'arrived', name: 'arrived' }] },
      });
    });
    const request = page.waitForRequest('**/v1/models/beta*');
    await page.evaluate('location.hash = "#/speech?model=beta%2Fspeech-02-hd"');
    await request;
    // Stops the effects that follow a paint.
    await page.clock.pauseAt(Date.now() + 60_000);
    arrival.resolve();
    await page.getByText('arrived').waitFor();
    await page.evaluate('location.hash = "#/speech?model=alpha-tts"');
    await page.clock.resume();
    const model = page.getByLabel('Model', { exact: true });
    await expect.poll(() => model.inputValue()).toBe('alpha-tts');
    expect(page.url()).toContain('model=alpha-tts');
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
