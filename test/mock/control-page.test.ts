import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problems } from '../docs/accessibility.ts';
import { hasChromium, launch, newPage } from '../docs/chromium.ts';
import { type Mock, startMock } from './server.ts';

describe.skipIf(!hasChromium)('the control page', { timeout: 60_000 }, () => {
  let mock: Mock;
  let browser: Browser;
  beforeAll(async () => {
    [mock, browser] = await Promise.all([startMock(), launch()]);
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await mock?.close();
  });

  async function open(colorScheme: 'light' | 'dark' = 'light') {
    const page = await newPage(browser, { colorScheme });
    const [externalRequests, errors]: [string[], string[]] = [[], []];
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(mock.url))
        externalRequests.push(request.url());
    });
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    await page.goto(`${mock.url}/__mock`);
    await page.getByRole('cell', { name: 'normal' }).waitFor();
    return { page, externalRequests, errors };
  }

  const status = async () =>
    (await fetch(`${mock.url}/v1/models`, { headers: { authorization: 'Bearer any' } })).status;

  test('sets a status by keyboard, shows the effect, and resets it', async () => {
    const { page, externalRequests, errors } = await open();
    await page.keyboard.press('Tab');
    await page.keyboard.type('listModels');
    await tabTo(page, 'status');
    await page.keyboard.type('401');
    await tabTo(page, 'times');
    await page.keyboard.type('2');
    await page.keyboard.press('Enter');
    await page.getByRole('status').filter({ hasText: 'Set for listModels.' }).waitFor();
    await page.getByRole('cell', { name: 'status 401, times 2' }).waitFor();
    expect(await status()).toBe(401);
    await page.getByRole('row', { name: /GET \/v1\/models listModels 401/ }).waitFor();
    await page.getByRole('cell', { name: 'status 401, times 1' }).waitFor();

    await page.getByRole('button', { name: 'Reset listModels' }).press('Enter');
    await page.getByRole('status').filter({ hasText: 'Reset listModels.' }).waitFor();
    expect(await status()).toBe(200);
    await page.getByRole('button', { name: 'Clear' }).press('Enter');
    await expect.poll(() => page.getByRole('row', { name: /listModels/ }).count()).toBe(0);
    expect(externalRequests).toEqual([]);
    expect(errors).toEqual([]);
    await page.close();
  });

  test('offers the faults that each operation supports', async () => {
    const { page } = await open();
    const faults = page.getByLabel('Fault');
    expect(await faults.getByRole('option').allInnerTexts()).toContain('truncate');
    await page.getByLabel('Operation').selectOption('openRealtimeSocket');
    expect(await faults.getByRole('option').allInnerTexts()).toContain('close-1011');
    await faults.selectOption('close-1011');
    await page.getByText('close-1011: closes with 1011 without an error.').waitFor();
    await page.close();
  });

  test.each(['light', 'dark'] as const)('is accessible (%s)', async (scheme) => {
    const { page } = await open(scheme);
    expect(await problems(page)).toEqual([]);
    const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(background).toBe(scheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 23, 26)');
    await page.close();
  });
});

/** Presses Tab until a field has the focus. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let step = 0; step < 10; step += 1) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate('document.activeElement?.name')) === name) return;
  }
  throw new Error(`Tab does not reach ${name}`);
}
