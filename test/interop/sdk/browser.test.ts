import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launch, newPage } from '../../docs/chromium.ts';
import { startMock } from '../../mock/server.ts';
import { startTestGateway } from '../../support/gateway.ts';

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [new URL('browser-page.ts', import.meta.url).pathname],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    // Imported on demand, only in Node.
    external: ['node:*'],
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}

describe.skipIf(!hasChromium)('public SDKs in a browser, on a page of another origin', () => {
  let browser: Browser;
  let site: Server;
  let page: Page;
  beforeAll(async () => {
    const [started, script] = await Promise.all([launch(), bundle()]);
    browser = started;
    site = createServer((request, response) => {
      const isScript = request.url === '/page.js';
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.end(isScript ? script : '<!doctype html><script type="module" src="/page.js"></script>');
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    page = await newPage(browser);
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
    await page.waitForFunction('globalThis.tried !== undefined');
  });
  afterAll(async () => {
    await browser?.close();
    site?.close();
  });

  describe.each([
    ['the gateway', () => startTestGateway()],
    ['the mock', async () => Object.assign(await startMock({ paceMs: 1, taskMs: 300 }), { key: 'sk-any' })],
  ])('with %s', (_, start) => {
    let target: Awaited<ReturnType<typeof start>>;
    beforeAll(async () => {
      target = await start();
    });
    afterAll(() => target?.close());

    test.each([
      ['openai', ['RIFF', 1]],
      ['anthropic', ['assistant', 'assistant']],
      ['langchain', 'string'],
      ['alibaba', 'ftyp'],
      ['bytedance', 'ftyp'],
    ])('%s works', async (name, expected) => {
      const script = `tried.${name}(${JSON.stringify(target.url)}, ${JSON.stringify(target.key)})`;
      expect(await page.evaluate(script)).toEqual(expected);
    });
  });
});
