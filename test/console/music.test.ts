import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasChromium } from '../docs/chromium.ts';
import { startTestGateway } from '../support/gateway.ts';
import { expectAccessible, expectFits, useConsole } from './console.ts';

describe.skipIf(!hasChromium)('the music page', () => {
  // Long enough to be sung and continued.
  const target = useConsole(() => startTestGateway({ sandboxSongSeconds: 12 }));

  const positions = (audio: Locator): Promise<number[]> =>
    audio.evaluateAll((elements) =>
      elements.map((element) => (element as unknown as { currentTime: number }).currentTime),
    );

  test('creates two songs and plays one with its lyrics in time', async () => {
    const page = await target.open('#/music');
    await page.getByRole('textbox', { name: /^Description/ }).press('Control+Enter');
    await page.getByRole('progressbar', { name: 'Progress' }).waitFor();
    const songs = page.getByRole('article');
    await songs.nth(1).waitFor();
    expect(await songs.count()).toBe(2);
    const song = songs.first();
    await song.getByRole('button', { name: 'Play Slow Sea, version 1' }).click();
    await expect.poll(async () => (await positions(song.locator('audio')))[0]).toBeGreaterThan(0.5);
    const lyrics = song.getByRole('region', { name: 'Text of Slow Sea, version 1' });
    await lyrics.getByText('sea', { exact: true }).first().click();
    await song.locator('.timed-word-active').waitFor();
    const download = page.waitForEvent('download');
    await song.getByRole('button', { name: 'WAV' }).click();
    expect((await download).suggestedFilename()).toMatch(/\.wav$/);
    await page.getByRole('link', { name: /= \d+ quota/ }).waitFor();
    await page.getByText('Made by the sandbox').waitFor();
    expect(page.url()).toMatch(/#\/music\?task=task_[0-9a-f]{32}$/);
    await page.reload();
    await songs.nth(1).waitFor();
    await page.getByText('Made by the sandbox').waitFor();
    const row = page.getByRole('row', { name: /completed sigma_music/ });
    expect(await row.getAttribute('aria-current')).toBe('true');
    await row.getByRole('button', { name: 'Open' }).click();
    await songs.nth(1).waitFor();
    expect(await songs.count()).toBe(2);
    await expectAccessible(page);
    await expectFits(page);
  });

  test('writes lyrics, sings them and plays the stems in sync', async () => {
    const page = await target.open('#/music');
    await page.getByRole('tab', { name: 'Lyrics' }).click();
    await page.getByLabel('Write lyrics for me').press('Enter');
    await expect.poll(() => page.getByLabel('Title').inputValue()).toBe('Lullaby Lighthouse');
    await page.getByRole('textbox', { name: /^Lyrics/ }).fill('[Verse]\nThe water leaves the shore');
    await page.getByRole('button', { name: 'Create songs' }).click();
    const song = page.getByRole('article').first();
    await song.getByRole('button', { name: 'Separate vocals' }).click();
    await song.getByRole('button', { name: 'Play the stems' }).click();
    const stems = song.getByRole('listitem').locator('audio');
    await expect.poll(async () => Math.min(...(await positions(stems)))).toBeGreaterThan(0.5);
    const [vocals = 0, instrumental = 0] = await positions(stems);
    expect(Math.abs(vocals - instrumental)).toBeLessThan(0.2);
    await song.getByRole('button', { name: 'Mute Vocals' }).click();
    await song.getByRole('slider', { name: 'Volume of Instrumental' }).fill('40');
    await song.getByText('40 %').waitFor();
    await song.getByRole('button', { name: 'Play Lullaby Lighthouse, version 1' }).click();
    await song.getByRole('button', { name: 'Play the stems' }).waitFor();
    await expectAccessible(page);
  });

  test('shows an error of the gateway at its field, and continues a song', async () => {
    const page = await target.open('#/music');
    // The browser itself logs the status 404.
    page.removeAllListeners('console');
    await page.getByText('Continue a song').click();
    const clip = page.getByLabel('Clip id');
    await clip.fill('nope');
    await page.getByRole('button', { name: 'Create songs' }).click();
    await page.getByText('continue_clip_id: there is no song "nope" here.').waitFor();
    expect(await clip.getAttribute('aria-invalid')).toBe('true');
    await clip.fill('');
    await page.getByRole('button', { name: 'Create songs' }).click();
    await page.getByRole('article').first().getByRole('button', { name: 'Continue' }).click();
    expect(await clip.inputValue()).toMatch(/^[0-9a-f-]{36}$/);
    await page.getByLabel('Continue at').fill('5');
    await page.getByRole('button', { name: 'Create songs' }).click();
    await expect.poll(() => page.getByRole('article').count()).toBe(4);
  });
});
