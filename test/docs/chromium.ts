import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** The path on Debian and its derivatives. `CHROMIUM` sets another one. */
const executablePath = process.env.CHROMIUM || '/usr/bin/chromium';

/** Without a browser, its tests are skipped. In CI, they fail. */
export const hasChromium = process.env.CI === 'true' || existsSync(executablePath);

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      // Chromium's own sandbox does not work for root, as in most containers.
      '--no-sandbox',
      '--autoplay-policy=no-user-gesture-required',
      // A microphone that beeps, and that pages may use.
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
    ],
  });
}

/** Opens a page in a context of its own. Its waits are long enough for a busy machine, where speech of 7 s can take 90 s. */
export async function newPage(browser: Browser, options?: BrowserContextOptions): Promise<Page> {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(180_000);
  return page;
}
