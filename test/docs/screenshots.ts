import { mkdir, writeFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { Unigate } from '../../client/index.ts';
import { startTestGateway } from '../support/gateway.ts';
import { launch } from './chromium.ts';

/** `npm run screenshots`: takes the screenshots of the README, in both themes. */
const folder = new URL('../../openapi/guides/screenshots/', import.meta.url);

/** Number of calls before the screenshots of activity and usage. */
const calls = 40;

interface Shot {
  name: string;
  path: string;
  /** Brings the page into the state that the screenshot shows. */
  prepare?: (page: Page) => Promise<unknown>;
}

const shots: readonly Shot[] = [
  { name: 'home', path: '/' },
  { name: 'quick-start', path: '/docs/quick-start' },
  {
    name: 'reference',
    path: '/docs/reference',
    prepare: (page) => page.getByRole('heading', { name: 'Unigate' }).first().waitFor(),
  },
  {
    name: 'playground',
    path: '/console#/speech',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Generate speech' }).click();
      await page.getByRole('button', { name: 'Play' }).first().waitFor();
      await page.getByText(/= \d+ quota/).waitFor();
    },
  },
  {
    name: 'activity',
    path: '/console#/activity',
    prepare: (page) => page.getByRole('row').nth(5).waitFor(),
  },
  { name: 'usage', path: '/console#/usage', prepare: (page) => page.locator('canvas').first().waitFor() },
];

const target = await startTestGateway();
const browser = await launch();
try {
  await createActivity(new Unigate({ baseUrl: target.url, apiKey: target.key }));
  await mkdir(folder, { recursive: true });
  for (const colorScheme of ['light', 'dark'] as const)
    for (const shot of shots) await take(browser, shot, colorScheme);
} finally {
  await browser.close();
  await target.close();
}

async function take(
  browser: Browser,
  { name, path, prepare }: Shot,
  colorScheme: 'light' | 'dark',
): Promise<void> {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 800 } });
  await page.addInitScript(`sessionStorage.setItem('unigate-key', ${JSON.stringify(target.key)})`);
  await page.goto(target.url + path);
  await prepare?.(page);
  await page.waitForLoadState('networkidle');
  await page.evaluate('scrollTo(0, 0)');
  await writeFile(new URL(`${name}-${colorScheme}.png`, folder), await page.screenshot({ caret: 'hide' }));
  await page.close();
}

/** Creates calls and tasks of several kinds, so that the pages have something to show. */
async function createActivity(client: Unigate): Promise<void> {
  const texts = ['Good morning from one key.', 'The ferry leaves at nine.', 'Low tide is at noon.'];
  for (let index = 0; index < calls; index += 1) {
    const input = texts[index % texts.length] ?? '';
    if (index % 3 === 0) await client.speech.create({ model: 'alpha3-tts-flash', voice: 'Aria', input });
    else if (index % 3 === 1) await client.embeddings.create({ model: 'theta-embedding-1', input });
    else
      await client.messages.create({
        model: 'iota-chat-1',
        max_tokens: 64,
        messages: [{ role: 'user', content: input }],
      });
  }
  const prompt = 'A paper boat sails down a rainy street.';
  await client.videos.createAndWait({ model: 'gamma3.0-video-prime', prompt, seconds: '2', size: '480P' });
  await client.imageJobs.createAndWait({ prompt: 'A harbor at dusk.' });
}
