import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasChromium } from '../docs/chromium.ts';
import { startTestGateway } from '../support/gateway.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

const player = 'document.querySelector("video")';
const drawnFrames = 'document.querySelectorAll(".frames canvas:not(.skeleton)").length';

/** A PNG of one pixel. */
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const dropFiles = (name: string, type: string) => `{
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File(['x'], '${name}', { type: '${type}' }));
  document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
}`;

const codeOf = (page: Page) => page.getByRole('region', { name: 'Code' }).getByRole('tabpanel').innerText();

async function createVideo(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Create video' }).click();
  await page.getByLabel('Generated video').waitFor();
}

describe.skipIf(!hasChromium)('the video page', () => {
  const target = useConsole();

  test('creates a video, plays it and shows its frames and its cost', async () => {
    const page = await target.open('#/video');
    await expectAccessible(page);
    await page.getByLabel('Prompt', { exact: true }).focus();
    await page.keyboard.press('Control+Enter');
    await page.getByLabel('Generated video').waitFor();
    await page.evaluate(`${player}.play()`);
    await expect.poll(() => page.evaluate(`${player}.currentTime`)).toBeGreaterThan(0);
    await expect.poll(() => page.evaluate(drawnFrames)).toBe(8);
    await page.evaluate(`${player}.pause()`);
    await page.getByRole('group', { name: 'Frames' }).getByRole('button').nth(5).click();
    await expect.poll(() => page.evaluate(`${player}.currentTime`)).toBeCloseTo(3.44, 1);
    await page.getByRole('link', { name: '5 × 1 = 5 quota' }).waitFor();
    expect(await page.getByRole('link', { name: 'Download' }).getAttribute('href')).toMatch(/\.mp4$/);
    await expectAccessible(page);
    await expectFits(page);
  });

  test('opens a recent task again, also after a reload', async () => {
    const page = await target.open('#/video?model=eta-imagine-video');
    expect(await page.getByLabel('Model').inputValue()).toBe('eta-imagine-video');
    await createVideo(page);
    const row = page.getByRole('row', { name: /completed eta-imagine-video/ });
    await row.waitFor();
    await page.goto(`${target.gateway.url}/console#/`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.goto(`${target.gateway.url}/console#/video`);
    await row.getByRole('button', { name: 'Open' }).click();
    await page.getByLabel('Generated video').waitFor();
    expect(page.url()).toMatch(/#\/video\?task=task_[0-9a-f]{32}$/);
    await page.reload();
    await page.getByLabel('Generated video').waitFor();
  });

  test.each([
    ['createGenericVideo', 'epsilon-delta-2-0-260128', '/v1/video/generations', '"size": "720p"'],
    ['createNativeVideo', 'gamma3.0-video', '/video-synthesis', '"resolution": "720P"'],
    [
      'createOfficialVideo',
      'epsilon-delta-2-5-260628',
      '/contents/generations/tasks',
      '"resolution": "720p"',
    ],
  ])('creates a video with %s', async (operation, model, path, field) => {
    const page = await target.open('#/video');
    await page.getByLabel('Prompt', { exact: true }).fill('A lighthouse.');
    await page.getByLabel('Format').selectOption(operation);
    await page.getByLabel('Model').selectOption(model);
    expect(await page.getByLabel('Prompt', { exact: true }).inputValue()).toBe('A lighthouse.');
    const code = await codeOf(page);
    for (const part of [path, model, 'A lighthouse.', field]) expect(code).toContain(part);
    await createVideo(page);
    await expect.poll(() => page.evaluate(drawnFrames)).toBe(8);
  });

  test('sends references with their purpose', async () => {
    const page = await target.open('#/video?model=gamma3.0-video');
    const file = { name: 'bud.png', mimeType: 'image/png', buffer: pixel };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByText('Added as first frame.').waitFor();
    expect(await codeOf(page)).toContain('"image": "data:image/png;base64,');
    const address = page.getByLabel('References: address');
    await address.fill('https://files.example/bloom.png');
    await address.press('Enter');
    await page.getByText('Added as last frame.').waitFor();
    expect(await codeOf(page)).toMatch(/"images": \[\s+"data:image\/png[^]*bloom\.png"\s+\]/);
    await page.getByLabel('Purpose').nth(1).selectOption('reference_image');
    expect(await codeOf(page)).toMatch(
      /"reference_images": \[\s+\{\s+"url": "https:\/\/files\.example\/bloom/,
    );
    await page.getByRole('button', { name: 'Remove' }).first().click();
    await page.getByLabel('Format').selectOption('createNativeVideo');
    expect(await codeOf(page)).toMatch(/"media": \[\s+\{\s+"type": "reference_image"/);
    await page.getByLabel('Format').selectOption('createOfficialVideo');
    expect(await codeOf(page)).toMatch(/"type": "image_url"[^]*"role": "reference_image"/);
    await expectAccessible(page);
  });

  test('accepts files that are dropped anywhere on the page, and refuses videos', async () => {
    const page = await target.open('#/video?model=gamma3.0-video');
    await page.getByText('References', { exact: true }).waitFor();
    await page.evaluate(dropFiles('bud.png', 'image/png'));
    await page.getByText('Added as first frame.').waitFor();
    await page.getByText('bud.png').waitFor();
    await page.evaluate(dropFiles('walk.mp4', 'video/mp4'));
    await page.getByText('walk.mp4 has a type that is not accepted here.').waitFor();
    expect(await page.getByLabel('Purpose').count()).toBe(1);
  });

  test('shows errors at their fields', async () => {
    const page = await target.open('#/video?model=gamma3.0-video');
    const address = page.getByLabel('References: address');
    await address.fill('ftp://files.example/bud.png');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    // The browser itself logs the status 400.
    page.removeAllListeners('console');
    await page.getByRole('button', { name: 'Create video' }).click();
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.innerText()).toMatch(/^image: must be an http or https URL/);
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('2–30', { exact: true }).waitFor();
    await page.getByLabel('Seconds').fill('99');
    await page.getByRole('button', { name: 'Create video' }).click();
    await page.getByText('must be -1 or 2 to 30').waitFor();
    await expectAccessible(page);
  });
});

describe.skipIf(!hasChromium)('a video task that takes long', () => {
  const target = useConsole(() => startTestGateway({ sandboxTaskMs: 6_000 }));

  test('can be left and awaited again', async () => {
    const page = await target.open('#/video');
    await page.getByRole('button', { name: 'Create video' }).click();
    await page.getByText('50 %').waitFor();
    await page.getByRole('button', { name: 'Stop waiting' }).click();
    await page.getByText('The gateway still works on this task.').waitFor();
    await page.getByRole('button', { name: 'Wait again' }).click();
    await page.getByLabel('Generated video').waitFor();
  });
});

describe.skipIf(!hasChromium)('a video task that has not started', () => {
  const target = useConsole(() => startTestGateway({ sandboxTaskMs: 3_600_000 }));

  test('can be canceled in the native format', async () => {
    const page = await target.open('#/video');
    await page.getByLabel('Format').selectOption('createNativeVideo');
    await page.getByRole('button', { name: 'Create video' }).click();
    await page.getByRole('button', { name: 'Cancel task' }).click();
    await page.getByText('The task was canceled.').waitFor();
  });
});
