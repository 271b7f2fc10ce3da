import { readFile, writeFile } from 'node:fs/promises';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { describe, expect, test } from 'vitest';
import { pages } from '../../client/console/pages.ts';
import { hasChromium } from '../docs/chromium.ts';
import { useConsole } from './console.ts';

/** Set to write the images again after an intended change. */
const isUpdate = process.env.UPDATE_SNAPSHOTS === 'true';

/** Scale of the images: small files that still show the layout. */
const deviceScaleFactor = 0.25;
/** Share of pixels that may differ, for other fonts and for numbers that change. */
const tolerance = 0.02;

const themes = ['light', 'dark'] as const;

describe.skipIf(!hasChromium)('snapshots', { timeout: 60_000 }, () => {
  const target = useConsole();

  test.each(pages.flatMap(({ path, title }) => themes.map((theme) => ({ path, title, theme }))))(
    '$title, $theme',
    async ({ path, theme }) => {
      const page = await target.open(`#/${path}`, {
        colorScheme: theme,
        deviceScaleFactor,
        reducedMotion: 'reduce',
      });
      await page.waitForLoadState('networkidle');
      const found = await page.screenshot({ mask: [page.locator('time, .header-key')], caret: 'hide' });
      const file = new URL(`snapshots/${path || 'overview'}-${theme}.png`, import.meta.url);
      if (isUpdate) await writeFile(file, found);
      expect(differenceOf(PNG.sync.read(found), PNG.sync.read(await readFile(file)))).toBeLessThan(tolerance);
    },
  );
});

/** Returns the share of pixels that differ. 1 if the sizes differ. */
function differenceOf(found: PNG, expected: PNG): number {
  const { width, height } = expected;
  if (found.width !== width || found.height !== height) return 1;
  return (
    pixelmatch(found.data, expected.data, undefined, width, height, { threshold: 0.2 }) / (width * height)
  );
}
