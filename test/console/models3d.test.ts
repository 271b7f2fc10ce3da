import { describe, expect, test } from 'vitest';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

const isVisible = 'document.querySelector("model-viewer").modelIsVisible';

describe.skipIf(!hasChromium)('the 3D page', () => {
  const target = useConsole();

  test('creates an object and shows it', async () => {
    // The viewer renders in software, so large frames and turning objects take long.
    const page = await target.open('#/3d', {
      reducedMotion: 'reduce',
      viewport: { width: 480, height: 800 },
    });
    await expectAccessible(page);
    await page.getByLabel('Prompt').focus();
    await page.keyboard.press('Control+Enter');
    const viewer = page.locator('model-viewer');
    await viewer.waitFor();
    await page.getByText(/^\d\.\d\d × \d\.\d\d × \d\.\d\d m$/).waitFor();
    await expect.poll(() => page.evaluate(isVisible)).toBe(true);
    await page.getByRole('button', { name: 'Turn', pressed: false }).click();
    await page.getByRole('button', { name: 'Turn', pressed: true }).click();
    await page.getByRole('button', { name: 'Reset view' }).click();
    await page.getByRole('link', { name: '1 × 1 = 1 quota' }).waitFor();
    expect(await page.getByRole('link', { name: 'Download GLB' }).getAttribute('href')).toMatch(/\.glb$/);
    await expectAccessible(page);
    await expectFits(page);
    await page.reload();
    await viewer.waitFor();
  });

  test('sends an image or several views', async () => {
    const page = await target.open('#/3d');
    const code = page.getByRole('region', { name: 'Code' }).getByRole('tabpanel');
    await page.getByRole('tab', { name: 'Image' }).click();
    await page.getByRole('textbox', { name: 'Image', exact: true }).fill('https://files.example/horse.png');
    expect(await code.innerText()).toMatch(/"input": \{\s+"image": "https:\/\/files\.example\/horse\.png"/);
    await page.getByRole('tab', { name: 'Views' }).click();
    await page.getByLabel('Back view').fill('https://files.example/back.jpg');
    expect(await code.innerText()).toMatch(
      /\{\},\s+\{\},\s+\{\s+"type": "jpeg",\s+"file_token": [^]*\},\s+\{\}/,
    );
    await page.getByRole('button', { name: 'Create object' }).click();
    await page.getByText('This field is required.').waitFor();
    await page.getByLabel('Front view').fill('horse.png');
    await page.getByRole('button', { name: 'Create object' }).click();
    await page.getByText('must be an http or https URL').waitFor();
    await expectAccessible(page);
  });

  test('sends no materials without a texture', async () => {
    const page = await target.open('#/3d');
    await page.getByText('More options').click();
    await page.getByLabel('Texture', { exact: true }).uncheck();
    const code = await page.getByRole('region', { name: 'Code' }).getByRole('tabpanel').innerText();
    expect(code).toMatch(/"texture": false,\s+"pbr": false/);
    await page.getByRole('button', { name: 'Create object' }).click();
    await page.getByRole('link', { name: 'Download GLB' }).waitFor();
  });
});
