import { describe, expect, test } from 'vitest';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('the embeddings page', () => {
  const target = useConsole();

  test('compares texts and shows the neighbors and the vector of one of them', async () => {
    const page = await target.open('#/embeddings', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('textbox', { name: 'Text 1' }).press('Control+Enter');
    await page.getByRole('link', { name: /= \d+ quota/ }).waitFor();
    const cells = page.getByRole('region', { name: 'Heat map' }).getByRole('cell');
    expect(await cells.filter({ hasText: '1.00' }).count()).toBe(5);
    const selected = page.getByRole('region', { name: 'Selected text' });
    const neighbors = [
      ['The boat leaves the harbor at dawn.', 'A fishing boat leaves the harbor before dawn.'],
      ['A fishing boat leaves the harbor before dawn.', 'The boat leaves the harbor at dawn.'],
      ['The boat returns to the harbor at noon.', 'The boat leaves the harbor at dawn.'],
      ['The bakery sells warm bread at noon.', 'Fresh bread from the bakery is still warm.'],
      ['Fresh bread from the bakery is still warm.', 'The bakery sells warm bread at noon.'],
    ] as const;
    for (const [index, [text, neighbor]] of neighbors.entries()) {
      await page.getByRole('button', { name: `${index + 1} ${text}` }).click();
      await selected.getByRole('heading', { name: text }).waitFor();
      expect(await selected.getByRole('listitem').first().innerText()).toContain(neighbor);
    }
    expect(await selected.innerText()).toContain('512 dimensions, length 1.000');
    await selected.getByRole('button', { name: 'Copy the vector as JSON' }).click();
    const copied = JSON.parse(String(await page.evaluate('navigator.clipboard.readText()'))) as number[];
    expect(copied).toHaveLength(512);
    await expectAccessible(page);
    await expectFits(page);
  });

  test('decodes packed vectors', async () => {
    const page = await target.open('#/embeddings');
    await page.getByText('More options').click();
    await page.getByLabel('Encoding').selectOption('base64');
    await page.getByLabel('Dimensions').fill('64');
    await page.getByRole('button', { name: 'Embed texts' }).click();
    await page.getByText('64 dimensions, length 1.000').waitFor();
  });

  test('edits the list by keyboard, and shows errors at their fields', async () => {
    const page = await target.open('#/embeddings', { permissions: ['clipboard-read', 'clipboard-write'] });
    const texts = page.getByRole('group', { name: 'Texts' }).getByRole('textbox');
    await texts.last().press('Enter');
    await page.evaluate('navigator.clipboard.writeText("A gull.\\nA crab.\\n")');
    await page.keyboard.press('Control+v');
    await expect.poll(() => texts.count()).toBe(7);
    expect(await texts.last().inputValue()).toBe('A crab.');
    for (const text of await texts.all()) await text.fill('');
    for (let count = await texts.count(); count > 1; count -= 1) await texts.last().press('Backspace');
    await expect.poll(() => texts.count()).toBe(1);
    await page.getByLabel('Dimensions').fill('70000');
    await page.getByRole('button', { name: 'Embed texts' }).click();
    await page.getByText('This field is required.').waitFor();
    await page.getByText('Enter at most 65,536.').waitFor();
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Text 1');
    await expectAccessible(page);
  });
});
