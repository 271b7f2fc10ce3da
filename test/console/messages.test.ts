import { describe, expect, test } from 'vitest';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

/** An image of one pixel. */
const image = {
  name: 'harbour.png',
  mimeType: 'image/png',
  buffer: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
};

describe.skipIf(!hasChromium)('the messages page', () => {
  const target = useConsole();

  async function openChat() {
    const page = await target.open('#/messages');
    const message = page.getByRole('textbox', { name: 'Message', exact: true });
    const answers = page.getByRole('article', { name: 'Model' });
    return { page, message, answers };
  }

  test('streams an answer and shows its tokens and cost', async () => {
    const { page, message, answers } = await openChat();
    await page.getByText(/^\d+ input tokens$/).waitFor();
    await expectAccessible(page);
    await message.press('Enter');
    await answers.getByRole('link', { name: /= \d+ quota/ }).waitFor();
    expect(await answers.innerText()).toMatch(
      /^Low tide in Vik is at 17:40 today\.[^]*\d+ → \d+ tokens[^]*first token after/,
    );
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Message');
    await page.getByRole('tab', { name: 'Anthropic SDK' }).click();
    await page.getByText('"content": "Low tide in Vik is at 17:40 today."').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('No messages yet').waitFor();
  });

  test('offers a tool and sends its result', async () => {
    const { page, message, answers } = await openChat();
    await page.getByRole('button', { name: 'Add a tool' }).click();
    await message.press('Enter');
    const result = page.getByLabel('Result of get_tide');
    await result.waitFor();
    expect(await answers.innerText()).toContain('"harbour": "Vik"');
    await expectAccessible(page);
    await result.fill('18:05');
    await result.press('Enter');
    await answers.nth(1).getByText('18:05').waitFor();
    await message.waitFor();
    await expectFits(page);
  });

  test('does not send an invalid tool, and shows an error of the gateway at the tools', async () => {
    const { page, message, answers } = await openChat();
    await page.getByRole('button', { name: 'Add a tool' }).click();
    const tool = page.getByLabel('Tool 1 as JSON');
    await tool.fill('{ "name": "low tide" }');
    await page.getByText('name must be 1 to 128 letters, digits, - and _.').waitFor();
    await message.press('Enter');
    expect(await page.getByRole('article').count()).toBe(0);
    // The browser itself logs the status 400.
    page.removeAllListeners('console');
    await page.getByText('More options').click();
    await page.getByLabel('Top P').fill('2');
    await page.getByText('More options').click();
    await message.press('Enter');
    await page.getByText('Enter at most 1.').waitFor();
    await page.getByLabel('Top P').fill('');
    await tool.fill('{ "name": "low_tide", "description": 5, "input_schema": { "type": "object" } }');
    await message.press('Enter');
    await page
      .getByRole('group', { name: 'Tools' })
      .getByText('tools.0.description: must be string.')
      .waitFor();
    await answers.getByText('Failed').waitFor();
    await page.getByRole('button', { name: 'Remove tool 1' }).click();
    await page.getByRole('button', { name: 'Try again' }).click();
    await answers.getByText('Low tide in Vik').waitFor();
  });

  test('sends an image, and edits the last message', async () => {
    const { page, message, answers } = await openChat();
    await page
      .locator('input[type=file]')
      .setInputFiles([image, { ...image, name: 'a.txt', mimeType: 'text/plain' }]);
    await page.getByText('a.txt is not an image of a supported type.').waitFor();
    await page.getByRole('img', { name: 'harbour.png' }).waitFor();
    await message.press('Enter');
    await answers.getByText('1 file not looked at').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await message.inputValue()).toBe('When is low tide in Vik?');
    await page.getByRole('button', { name: /^Remove image/ }).click();
    await message.press('Enter');
    await answers.getByText(/today\.$/).waitFor();
    expect(await page.getByRole('article').count()).toBe(2);
  });

  test('stops a message, and keeps the text of one that breaks off', async () => {
    const { page, message, answers } = await openChat();
    await message.fill('[[hang]] When is low tide in Vik?');
    await message.press('Enter');
    await page.getByRole('button', { name: 'Stop' }).click();
    await answers.getByText('Stopped').waitFor();
    await message.fill('[[drop]] When is low tide in Vik?');
    await message.press('Enter');
    await answers.nth(1).getByText('Failed').waitFor();
    expect(await answers.nth(1).innerText()).toMatch(/^Low/);
    await page.getByRole('log').getByRole('alert').waitFor();
  });
});
