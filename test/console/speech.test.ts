import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasChromium } from '../docs/chromium.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('the speech page', () => {
  const target = useConsole();
  const seconds = (page: Page, player = 0) =>
    page
      .locator('.player audio')
      .nth(player)
      .evaluate((audio) => (audio as unknown as { currentTime: number }).currentTime);

  test('plays a file, and highlights each word while it is spoken', async () => {
    const page = await target.open('#/speech');
    const code = page.getByRole('region', { name: 'curl code' });
    expect(await code.innerText()).not.toMatch(/sse|timestamp/);
    expect(await code.innerText()).toContain('-o speech.mp3');
    await page.getByLabel('Highlight the words').check();
    expect(await code.innerText()).toMatch(/word_timestamp_enabled[^]*sse/);
    await page.getByRole('button', { name: 'Generate speech' }).click();
    await expect.poll(() => seconds(page)).toBeGreaterThan(0.2);
    await page.getByText('Made by the sandbox').waitFor();
    const word = page.locator('.timed-word-active');
    const first = await word.innerText();
    await expect.poll(() => word.allInnerTexts()).not.toEqual([first]);
    await page.getByText(/Cost\s*[\d.,]+ × /).waitFor();

    const slider = page.getByRole('slider');
    await slider.press('End');
    const end = await slider.getAttribute('aria-valuetext');
    expect(end).toMatch(/^(0:\d\d) of \1$/);
    await slider.press('Home');
    await slider.click();
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/^0:03 of 0:06$/);
    await page.getByText('boats', { exact: true }).click();
    await expect.poll(() => word.innerText()).toBe('boats');
    await page.getByRole('button', { name: 'Pause speech of voxanna' }).click();
    await slider.press('Home');
    await slider.press('ArrowRight');
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/^0:01 of /);
    await expectAccessible(page);
    await expectFits(page);
  });

  test('shows the call as code, without the key', async () => {
    const page = await target.open('#/speech?model=alpha3-tts-flash&voice=Bruno');
    await page.getByRole('tab', { name: 'OpenAI SDK' }).click();
    await page.getByText('openai.audio.speech.create').waitFor();
    // Longer than inline media may be in the code.
    const text = 'Nine more words of a text that is long. '.repeat(12).trim();
    await page.getByLabel('Text').fill(text);
    const code = await page.getByRole('region', { name: 'Code' }).last().innerText();
    expect(code).toContain(text);
    expect(code).toContain('"voice": "Bruno"');
    expect(await page.content()).not.toContain(target.gateway.key);
    expect(page.url()).toContain('model=alpha3-tts-flash&voice=Bruno');
  });

  test('shows the result on a narrow screen without scrolling by hand', async () => {
    const page = await target.open('#/speech', {
      viewport: { width: 390, height: 844 },
      reducedMotion: 'reduce',
    });
    const result = page.getByRole('region', { name: 'Result' });
    await page.getByRole('button', { name: 'Generate speech' }).click();
    await result.waitFor();
    const top = async () => (await result.boundingBox())?.y ?? Number.NaN;
    await expect.poll(top).toBeLessThan(844 / 2);
    expect(await top()).toBeGreaterThanOrEqual(56);
    await page.getByRole('status').filter({ hasText: 'The call is complete.' }).waitFor();
    await expectFits(page);
  });

  test('shows an error of the gateway at its field', async () => {
    const page = await target.open('#/speech?model=alpha3-tts-flash');
    // The browser itself logs the status 400.
    page.removeAllListeners('console');
    const text = page.getByLabel('Text');
    await text.fill('a'.repeat(601));
    await text.press('Control+Enter');
    await page.getByText('must have at most 600 characters').waitFor();
    expect(await text.getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA');
  });

  test('offers the options of the model', async () => {
    const page = await target.open('#/speech?model=beta/speech-2.8-hd');
    await page.getByText('More options').click();
    await page.getByLabel('Emotion').waitFor();
    expect(await page.getByLabel('Format').locator('option').allInnerTexts()).toContain('flac');
    await page.getByLabel('Model').selectOption('alpha3-tts-instruct-flash');
    await page.getByLabel('Instructions', { exact: false }).first().waitFor();
    expect(await page.getByLabel('Emotion').count()).toBe(0);
    expect(await page.getByLabel('Format').count()).toBe(0);
  });

  test('plays a stream while it arrives', async () => {
    const page = await target.open('#/speech?mode=stream');
    await page.getByRole('button', { name: 'Stream speech' }).click();
    await page.getByText(/First sound\s*[\d.]+ (?:ms|s)/).waitFor();
    await page.getByRole('button', { name: 'Play the streamed speech' }).click();
    await expect.poll(() => seconds(page)).toBeGreaterThan(0.2);
    await expectAccessible(page);
    await expectFits(page);
  });

  test('stops a stream', async () => {
    const page = await target.open('#/speech?mode=stream');
    await page.getByRole('button', { name: 'Stream speech' }).click();
    await page.getByText(/First sound\s*[\d.]+ (?:ms|s)/).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => page.getByRole('button', { name: 'Stream speech' }).isEnabled()).toBe(true);
  });

  test('speaks words while they are written', async () => {
    const page = await target.open('#/speech?mode=realtime');
    const text = page.getByLabel('Text', { exact: false });
    await text.fill('One sentence is here already. ');
    await page.getByRole('button', { name: 'Start speaking' }).click();
    await page.getByText('Connected').waitFor();
    await text.pressSequentially('Another one follows. ');
    const events = page.getByRole('region', { name: 'Events' });
    await events.getByText('"Another "').waitFor();
    await page.keyboard.press('Home');
    await text.press('Delete');
    expect(await text.inputValue()).toContain('One sentence');
    await page.getByRole('button', { name: 'Finish' }).click();
    await events.getByText('session.finished').waitFor();
    await page.getByText(/Usage so far\s*\d+ characters/).waitFor();
    await page.getByRole('button', { name: 'Play the session' }).click();
    await expect.poll(() => seconds(page)).toBeGreaterThan(0.2);
    await expectAccessible(page);
    await expectFits(page);
  });

  test('compares voices, of which one plays at a time', async () => {
    const page = await target.open('#/speech?mode=compare');
    await page.getByLabel('Model 3').selectOption('alpha3-tts-flash');
    await page.getByRole('combobox', { name: 'Voice 3' }).selectOption('Clio');
    await page.getByRole('button', { name: 'Compare 3 voices' }).click();
    const play = page.getByRole('button', { name: /^Play the speech of/ });
    await expect.poll(() => play.count()).toBe(3);
    await page
      .getByText(/Clio[^]*First byte\s*[\d.]+ (?:ms|s)[^]*Duration\s*[\d.]+ s/)
      .first()
      .waitFor();
    await play.nth(0).click();
    await expect.poll(() => seconds(page, 0)).toBeGreaterThan(0.1);
    await page.getByRole('button', { name: 'Play the speech of Clio' }).click();
    await expect.poll(() => seconds(page, 2)).toBeGreaterThan(0.1);
    expect(await page.getByRole('button', { name: /^Pause/ }).count()).toBe(1);
    await expectAccessible(page);
    await expectFits(page);
  });
});
