import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { Unigate } from '../../client/index.ts';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

const isImageDrawn = 'document.querySelector(".image-open img")?.naturalWidth > 0';

async function waitForImage(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Show in full size' }).waitFor();
  await expect.poll(() => page.evaluate(isImageDrawn)).toBe(true);
}

/** Paints a line across the middle of the image. */
async function paint(page: Page): Promise<void> {
  const box = await page.getByRole('img', { name: 'Painted area' }).boundingBox();
  if (box === null) throw new Error('The mask editor is not visible.');
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.3, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, y, { steps: 4 });
  await page.mouse.up();
}

describe.skipIf(!hasChromium)('the images page', () => {
  const target = useConsole();

  test('creates a grid, upscales an image and redraws a part of it', async () => {
    const page = await target.open('#/images');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create images' }).click();
    await waitForImage(page);
    await page.getByRole('link', { name: '1 × 1 = 1 quota' }).waitFor();
    await page.getByRole('button', { name: 'U2' }).click();
    await page.getByRole('button', { name: 'Vary (Region)' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Start job' }).isDisabled()).toBe(true);
    await paint(page);
    await dialog.getByLabel('Prompt').fill('a small red boat');
    await expectAccessible(page);
    const sent = page.waitForRequest(/\/imgjob\/submit\/modal$/);
    await dialog.getByRole('button', { name: 'Start job' }).click();
    const body = (await sent).postDataJSON() as { prompt: string; maskBase64: string };
    expect(body.prompt).toBe('a small red boat');
    expect(body.maskBase64).toMatch(/^data:image\/png;base64,/);
    await dialog.waitFor({ state: 'hidden' });
    await waitForImage(page);
    await page.getByText('Vary (Region): a small red boat').waitFor();
    expect(await page.getByRole('region', { name: 'Jobs in this tab' }).getByRole('button').count()).toBe(3);
    await expectAccessible(page);
    await expectFits(page);
  });

  test('shows an image in full size, and the jobs of the tab after a reload', async () => {
    const page = await target.open('#/images');
    await page.getByLabel('Prompt').fill('a lighthouse');
    await page.keyboard.press('Control+Enter');
    await waitForImage(page);
    await page.getByRole('button', { name: 'Show in full size' }).click();
    await page.getByRole('dialog').getByRole('img', { name: 'a lighthouse' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Reroll' }).click();
    await page.getByText('Reroll: a lighthouse').waitFor();
    await page.reload();
    await page.getByText('Reroll: a lighthouse').waitFor();
    await page.getByRole('button', { name: 'a lighthouse', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').fill(target.gateway.key);
    await page.keyboard.press('Enter');
    await waitForImage(page);
    expect(await page.getByRole('region', { name: 'Jobs in this tab' }).count()).toBe(0);
  });

  test('opens a recent job in another tab, and the job of an address', async () => {
    const client = new Unigate({ baseUrl: target.gateway.url, apiKey: target.gateway.key });
    const { id } = await client.imageJobs.createAndWait({ prompt: 'a pier' }, { pollIntervalMs: 100 });
    const page = await target.open('#/images');
    const rows = page.getByRole('region', { name: 'Recent tasks' }).getByRole('row');
    await rows.nth(1).getByRole('button', { name: 'Open' }).click();
    await page.getByRole('img', { name: 'a pier' }).waitFor();
    await page.getByText('Made by the sandbox').waitFor();
    expect(page.url()).toContain(`#/images?task=${id}`);
    const other = await target.open(`#/images?task=${id}`);
    await other.getByRole('img', { name: 'a pier' }).waitFor();
  });

  test('says that the task of an address does not exist', async () => {
    const page = await target.open('#/images?task=unknown', { failures: [404] });
    expect(await page.getByRole('alert').innerText()).toMatch(/unknown[^]*req_[0-9a-f]{32}/);
    expect(await page.getByText('Your images appear here').count()).toBe(0);
  });

  test('shows errors at their fields', async () => {
    const page = await target.open('#/images');
    await page.getByLabel('Prompt').fill('');
    await page.getByText('More options').click();
    await page.getByLabel('Callback URL').fill('ftp://files.example/hook');
    await page.getByRole('button', { name: 'Create images' }).click();
    await page.getByText('This field is required.').waitFor();
    await page.getByText('must be an http or https URL').waitFor();
    await expectAccessible(page);
  });
});
