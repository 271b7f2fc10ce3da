import { readFile, writeFile } from 'node:fs/promises';
import pixelmatch from 'pixelmatch';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { describe, expect, test } from 'vitest';
import { hasChromium } from '../docs/chromium.ts';
import { useConsole } from './console.ts';

/** Set to write the images again after an intended change. */
const isUpdate = process.env.UPDATE_SNAPSHOTS === 'true';

/** Scale of the images: small files that still show the layout. */
const deviceScaleFactor = 0.25;
/** Share of pixels that may differ, for other fonts and for numbers that change. */
const tolerance = 0.03;

describe.skipIf(!hasChromium)('snapshots', { timeout: 120_000 }, () => {
  const target = useConsole();

  test.each(['light', 'dark'] as const)('each page looks as before, %s', async (colorScheme) => {
    const page = await target.open('#/', { colorScheme, deviceScaleFactor, reducedMotion: 'reduce' });
    const links = page.getByRole('navigation', { name: 'Console' }).getByRole('link');
    const changed: string[] = [];
    for (const link of await links.all()) {
      await link.click();
      const name = await link.innerText();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      await page.waitForLoadState('networkidle');
      const difference = await compare(page, `${name.toLowerCase()}-${colorScheme}`);
      if (difference > tolerance) changed.push(`${name}: ${Math.round(difference * 1_000) / 10} %`);
    }
    expect(changed).toEqual([]);
  });
});

/** Returns the share of pixels in which a page differs from its image. 1 if the sizes differ. */
async function compare(page: Page, name: string): Promise<number> {
  const found = await page.screenshot({ mask: [page.locator('time, .header-key')], caret: 'hide' });
  const file = new URL(`snapshots/${name}.png`, import.meta.url);
  if (isUpdate) await writeFile(file, found);
  const [one, other] = [PNG.sync.read(found), PNG.sync.read(await readFile(file))];
  const { width, height } = other;
  if (one.width !== width || one.height !== height) return 1;
  return pixelmatch(one.data, other.data, undefined, width, height, { threshold: 0.2 }) / (width * height);
}
