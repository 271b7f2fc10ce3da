import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { problems } from './accessibility.ts';
import { hasChromium, launch } from './chromium.ts';
import { snippetsOf } from './snippets.ts';

const schemes = ['light', 'dark'] as const;

describe.skipIf(!hasChromium)('in a browser', { timeout: 60_000 }, () => {
  let target: TestGateway;
  let browser: Browser;
  beforeAll(async () => {
    [target, browser] = await Promise.all([startTestGateway(), launch()]);
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await target?.close();
  });

  /** Opens a page of the documentation, and records its requests to other hosts. */
  async function open(path: string, colorScheme: (typeof schemes)[number] = 'light') {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 900 } });
    const outside: string[] = [];
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(target.url))
        outside.push(request.url());
    });
    await page.goto(target.url + path);
    return { page, outside };
  }

  test('the home page links to the documentation', async () => {
    const { page } = await open('/');
    await page.getByRole('link', { name: 'Documentation', exact: true }).click();
    await page.waitForURL('**/docs/');
    await page.getByRole('heading', { level: 1, name: 'Documentation' }).waitFor();
    await page.close();
  });

  test('the reference shows both documents without requests to other hosts', async () => {
    const { page, outside } = await open('/docs/reference');
    await page.getByRole('heading', { level: 1, name: 'Unigate' }).waitFor();
    await page.getByRole('link', { name: 'speech', exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'HTTP' }).click();
    await page
      .getByRole('option', { name: 'Events' })
      .or(page.getByRole('menuitem', { name: 'Events' }))
      .click();
    await page.getByText('AsyncAPI 3.0').first().waitFor();
    expect(outside).toEqual([]);
    await page.close();
  });

  test('the reference sends a request to this gateway', async () => {
    const { page } = await open('/docs/reference');
    await page.getByRole('link', { name: 'models', exact: true }).first().click();
    await page.getByRole('button', { name: /Test Request.*\/v1\/models\)/ }).click();
    const dialog = page.getByRole('dialog');
    const answered = page.waitForResponse((response) => response.url() === `${target.url}/v1/models`);
    await dialog.getByPlaceholder('Token').fill(target.key);
    await dialog.getByRole('button', { name: /^Send Request/ }).click();
    expect((await answered).status()).toBe(200);
    await page.close();
  });

  test('a page reads why its socket with an invalid key closes', async () => {
    const { page } = await open('/');
    const read = `new Promise((resolve) => {
      const url = location.origin.replace('http', 'ws') + '/v1/realtime?model=alpha3-tts-flash-realtime';
      const socket = new WebSocket(url, ['realtime', 'openai-insecure-api-key.sk-wrong']);
      const codes = [];
      socket.onmessage = ({ data }) => codes.push(JSON.parse(data).error.code);
      socket.onclose = ({ code, reason }) => resolve([...codes, code, reason]);
    })`;
    expect(await page.evaluate(read)).toEqual(['invalid_api_key', 4401, 'invalid_api_key']);
    await page.close();
  });

  test.each(schemes)('the pages have no accessibility violations, %s', async (scheme) => {
    for (const path of ['/', '/docs', '/docs/errors', '/docs/quick-start', '/docs/asynchronous-tasks']) {
      const { page } = await open(path, scheme);
      expect(await problems(page), path).toEqual([]);
      await page.close();
    }
  });

  test('the first Tab stop skips the menu', async () => {
    const { page } = await open('/docs/errors');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement?.id')).toBe('VPContent');
    await page.close();
  });

  test('the page in the browser guide plays speech', async () => {
    const guide = await readFile(new URL('../../openapi/guides/15-browser.md', import.meta.url), 'utf8');
    const snippet = snippetsOf(guide).find(({ language }) => language === 'html');
    const html = (snippet?.code ?? '').replace('http://127.0.0.1:8080', target.url);
    const server = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end(html),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const page = await browser.newPage();
    await page.addInitScript(`localStorage.setItem('unigate-key', ${JSON.stringify(target.key)})`);
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const output = page.locator('output');
    await output.filter({ hasText: /\d/ }).waitFor();
    expect(await output.innerText()).toMatch(snippet?.shows ?? /no pattern/);
    await page.close();
    server.close();
  });
});
