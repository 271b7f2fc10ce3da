import { mkdir, readFile, writeFile } from 'node:fs/promises';
import pixelmatch from 'pixelmatch';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { describe, expect, test } from 'vitest';
import { hasChromium } from '../docs/chromium.ts';
import { useConsole } from './console.ts';

/** Set to write the images again after an intended change. */
const isUpdate = process.env.UPDATE_SNAPSHOTS === 'true';
const folder = new URL('snapshots/', import.meta.url);

/** Scale of the images: small files that still show the layout. */
const deviceScaleFactor = 0.25;
/** Share of pixels that may differ, for other fonts and for numbers that change. */
const tolerance = 0.03;
/** Limit of the scripts that a page loads, compressed. The viewer of 3D objects is loaded with the first object. */
const maxScriptBytes = 90_000;

const scriptBytes = `performance.getEntriesByType('resource')
  .filter(({ initiatorType, name }) => initiatorType === 'script' || name.endsWith('.js'))
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`;

describe.skipIf(!hasChromium)('each page', () => {
  const target = useConsole();

  test.each(['light', 'dark'] as const)('looks as before and loads few scripts, %s', async (colorScheme) => {
    const options = { colorScheme, deviceScaleFactor, reducedMotion: 'reduce' } as const;
    const overview = await target.open('#/', options);
    const links = overview.getByRole('navigation', { name: 'Console' }).getByRole('link');
    const problems: string[] = [];
    for (const link of await links.all()) {
      const name = await link.innerText();
      const page = await target.open((await link.getAttribute('href')) ?? '', options);
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      await page.waitForLoadState('networkidle');
      const difference = await compare(page, `${name.toLowerCase()}-${colorScheme}`);
      if (difference > tolerance) problems.push(`${name}: ${Math.round(difference * 100)} % differs`);
      const bytes = await page.evaluate<number>(scriptBytes);
      if (bytes > maxScriptBytes) problems.push(`${name}: ${bytes} bytes of scripts`);
      await page.close();
    }
    expect(problems).toEqual([]);
  });
});

/** Returns the share of pixels in which a page differs from its image. 1 if the sizes differ. */
async function compare(page: Page, name: string): Promise<number> {
  const found = await page.screenshot({ mask: [page.locator('time, .header-key')], caret: 'hide' });
  const file = new URL(`${name}.png`, folder);
  if (isUpdate) {
    await mkdir(folder, { recursive: true });
    await writeFile(file, found);
  }
  const [one, other] = [PNG.sync.read(found), PNG.sync.read(await readFile(file))];
  const { width, height } = other;
  if (one.width !== width || one.height !== height) return 1;
  return pixelmatch(one.data, other.data, undefined, width, height, { threshold: 0.2 }) / (width * height);
}
