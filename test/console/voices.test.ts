import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('the voices page', () => {
  const target = useConsole();
  const isHeard = async (page: Page) => {
    const audible = '[...document.querySelectorAll("audio")].some((audio) => audio.currentTime > 0.1)';
    await expect.poll(() => page.evaluate(audible)).toBe(true);
  };

  test('clones a recording of the microphone, and deletes the voice', async () => {
    const page = await target.open('#/voices');
    await page.getByText('You have no voices yet').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Record', exact: true }).click();
    // The sandbox requires 3 s of sound.
    await page.getByRole('button', { name: /Stop recording 0:04/ }).click();
    await page.getByRole('button', { name: 'Play the recording' }).waitFor();
    await page.getByRole('button', { name: 'Clone the voice' }).click();
    await page.getByRole('link', { name: 'Use in speech' }).waitFor();
    const voices = page.getByRole('region', { name: 'Your voices' });
    await voices.getByRole('button', { name: /^Hear / }).click();
    await isHeard(page);
    await expectAccessible(page);
    await expectFits(page);

    await voices.getByRole('button', { name: /^Delete / }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete the voice?' });
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('You have no voices yet').waitFor();
  });

  test('designs a voice, which is used on the speech page', async () => {
    const page = await target.open('#/voices');
    await page.getByRole('tab', { name: 'Design' }).click();
    await page.getByLabel('Model').selectOption('voxa-v3.5-flash');
    await page.getByText('at most 500 characters').waitFor();
    await page.getByRole('button', { name: 'Design a voice' }).click();
    // The preview is there before the voice is ready.
    await page.getByRole('region', { name: 'New voice' }).getByText('Preparing').waitFor();
    await isHeard(page);
    await page.getByRole('link', { name: 'Use in speech' }).click();
    await page.getByRole('heading', { name: 'Speech', exact: true }).waitFor();
    await page.getByRole('radio', { name: /voxa-v3\.5-flash-vd-narrator/, checked: true }).waitFor();
    await page.getByRole('button', { name: 'Generate speech' }).click();
    await isHeard(page);
  });

  test('shows a problem at its field before the call', async () => {
    const page = await target.open('#/voices');
    await page.getByLabel('Name').fill('no spaces');
    await page.getByRole('button', { name: 'Clone the voice' }).click();
    await page.getByText('This must be 1 to 16 letters, digits and underscores.').waitFor();
    await page.getByText('This field is required.').waitFor();
  });
});
