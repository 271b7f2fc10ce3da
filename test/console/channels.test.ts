import { describe, expect, test } from 'vitest';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('channels', () => {
  const target = useConsole();
  const open = async () => {
    const page = await target.open('#/channels');
    const channel = page
      .getByRole('listitem')
      .filter({ has: page.getByRole('heading', { name: 'sandbox', exact: true }) });
    await channel.waitFor();
    return { page, channel };
  };

  test('tests a channel and shows its figures', async () => {
    const { page, channel } = await open();
    await channel.getByRole('button', { name: 'Test' }).click();
    await channel
      .getByRole('status')
      .filter({ hasText: /works.*as expected: a speech of two letters with .* \(status 200,/ })
      .waitFor();
    const other = page
      .getByRole('listitem')
      .filter({ has: page.getByRole('heading', { name: 'sandbox-eta', exact: true }) });
    await other.getByRole('button', { name: 'Test' }).click();
    await other
      .getByRole('status')
      .filter({ hasText: /works.*as expected: a query for a resource that does not exist \(status 404,/ })
      .waitFor();
    await expect.poll(() => channel.getByRole('definition').first().innerText()).not.toBe('0');
    await expectAccessible(page);
    await expectFits(page);
  });

  test('disables a channel for a reason, and enables it again', async () => {
    const { page, channel } = await open();
    await channel.getByRole('button', { name: 'Disable' }).click();
    const dialog = page.getByRole('dialog', { name: 'Disable sandbox' });
    expect(await dialog.getByRole('button', { name: 'Disable' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Reason').fill('The contract has ended.');
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await channel.getByText('The contract has ended.').waitFor();
    await channel.getByText('disabled', { exact: true }).waitFor();
    await channel.getByRole('button', { name: 'Enable' }).click();
    await channel.getByText('healthy', { exact: true }).waitFor();
  });

  test('shows prices, and what a reload would change', async () => {
    const { page } = await open();
    await page
      .getByRole('row')
      .filter({ hasText: 'alpha3-tts-flash-2025-11-27' })
      .getByText('characters')
      .waitFor();
    await page.getByRole('button', { name: 'Reload the configuration' }).click();
    await page.getByText('A check without effect.').waitFor();
    await page.getByText('Nothing changes.').waitFor();
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Applied.').waitFor();
    await expectAccessible(page);
  });
});
