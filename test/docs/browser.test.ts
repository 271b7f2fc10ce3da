import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { problems } from './accessibility.ts';
import { hasChromium, launch, newPage } from './chromium.ts';
import { sitePages } from './site-pages.ts';
import { snippetsOf } from './snippets.ts';

const schemes = ['light', 'dark'] as const;

describe.skipIf(!hasChromium)('in a browser', () => {
  let target: TestGateway;
  let browser: Browser;
  beforeAll(async () => {
    [target, browser] = await Promise.all([startTestGateway(), launch()]);
  });
  afterAll(async () => {
    await browser?.close();
    await target?.close();
  });

  /** Opens a page of the documentation. `faults` are errors, policy violations and requests to other hosts. */
  async function open(path: string, colorScheme: (typeof schemes)[number] = 'light', width = 1440) {
    const page = await newPage(browser, { colorScheme, viewport: { width, height: 900 } });
    const faults = await watchFaults(page);
    await page.goto(target.url + path);
    return { page, faults };
  }

  async function watchFaults(page: Page): Promise<string[]> {
    const faults: string[] = [];
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(target.url))
        faults.push(`request to ${request.url()}`);
    });
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) faults.push(message.text());
    });
    await page.addInitScript(`document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.error('policy violation', violatedDirective, blockedURI));`);
    return faults;
  }

  test('the page for an unknown address searches the documentation', async () => {
    for (const scheme of schemes) {
      const page = await newPage(browser, { colorScheme: scheme, viewport: { width: 390, height: 900 } });
      expect((await page.goto(`${target.url}/nope`))?.status()).toBe(404);
      const field = page.getByRole('searchbox', { name: 'Search the documentation' });
      await field.fill('webhook');
      expect(await problems(page)).toEqual([]);
      await field.press('Enter');
      await page.getByRole('option').getByText('Verify signatures').waitFor();
      await page.close();
    }
  });

  test('a link to an operation draws no outline, and its sample sends no optional header', async () => {
    const { page, faults } = await open('/docs/reference#operation/createVideo');
    const section = page.locator('section[tabindex="-1"]:focus');
    await expect.poll(() => section.innerText()).toContain("--header 'Authorization");
    expect(await section.innerText()).not.toMatch(/--header '(x-stainless|idempotency)/i);
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('none');
    expect(faults).toEqual([]);
    await page.close();
  });

  test('no page has an error, a policy violation or a request to another host', async () => {
    const page = await newPage(browser, { viewport: { width: 390, height: 900 } });
    const faults = await watchFaults(page);
    for (const path of sitePages) {
      await page.goto(target.url + path, { waitUntil: 'networkidle' });
      // The theme of the reference has its own layout for narrow windows.
      if (path !== '/docs/reference')
        expect(await page.evaluate('document.documentElement.scrollWidth'), `width of ${path}`).toBe(390);
      expect(faults, path).toEqual([]);
    }
    await page.close();
  });

  test('the home page links to the documentation', async () => {
    const { page } = await open('/');
    await page.getByRole('link', { name: 'Documentation', exact: true }).click();
    await page.waitForURL('**/docs/');
    await page.getByRole('heading', { level: 1, name: 'Documentation' }).waitFor();
    await page.close();
  });

  test('the reference shows both documents', async () => {
    const { page, faults } = await open('/docs/reference');
    await page.getByRole('heading', { level: 1, name: 'Unigate' }).waitFor();
    await page.getByRole('link', { name: 'Speech', exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'HTTP', exact: true }).click();
    await page
      .getByRole('option', { name: 'Events' })
      .or(page.getByRole('menuitem', { name: 'Events' }))
      .click();
    await page.getByText('AsyncAPI 3.0').first().waitFor();
    expect(faults).toEqual([]);
    await page.close();
  });

  test('a link from a page opens the reference at its operation, with samples of the clients', async () => {
    const { page, faults } = await open('/docs/http/embeddings');
    await page.getByRole('link', { name: 'createEmbedding in the API reference' }).click();
    await page.waitForURL('**/docs/reference#http/tag/embeddings/createEmbedding');
    await page.getByRole('heading', { name: 'Create embedding' }).waitFor();
    await page.getByRole('button', { name: 'Shell Curl' }).first().click();
    for (const client of ['@unigate/client', 'openai', 'Requests', 'Curl'])
      await page.getByRole('option', { name: client, exact: true }).first().waitFor();
    expect(faults).toEqual([]);
    await page.close();
  });

  test('the reference sends a request to this gateway', async () => {
    const { page } = await open('/docs/reference#operation/listModels');
    await page.getByRole('button', { name: /Test Request.*\/v1\/models\)/ }).click();
    const dialog = page.getByRole('dialog');
    const answered = page.waitForResponse((response) => response.url() === `${target.url}/v1/models`);
    await dialog.getByPlaceholder('Token').fill(target.key);
    await dialog.getByRole('button', { name: /^Send Request/ }).click();
    expect((await answered).status()).toBe(200);
    await page.close();
  });

  test.each([
    ['webhooks', 'Webhooks'],
    ['insufficient_user_quota', 'insufficient_user_quota'],
    ['Submit imagine', 'Submit imagine'],
    ['input_text_buffer.append', 'input_text_buffer.append'],
    ['voxa-v3-flash', 'voxa-v3-flash'],
    ['idle_in_transaction_timeout_ms', 'database.idle_in_transaction_timeout_ms'],
  ])('the search for %s finds it', async (words, title) => {
    const { page, faults } = await open('/docs/');
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.getByRole('searchbox').fill(words);
    const results = page.getByRole('listbox').getByRole('option');
    await expect.poll(async () => (await results.allInnerTexts()).slice(0, 5).join('\n')).toContain(title);
    await results.filter({ hasText: title }).first().click();
    await page.getByRole('heading', { name: title }).first().waitFor();
    expect(faults).toEqual([]);
    await page.close();
  });

  test('a selected tab applies to all groups, and is remembered on other pages', async () => {
    const { page } = await open('/');
    const shown = () => page.locator('.vp-code-group .blocks > .active').first().innerText();
    await page.getByText('Python', { exact: true }).first().click();
    await expect.poll(shown).toContain('import os');
    await page.goto(`${target.url}/docs/models/voxa-v3-flash`);
    expect(await shown()).toContain('import os');
    await page.reload();
    expect(await shown()).toContain('import os');
    await page.close();
  });

  test('a page can be copied as Markdown', async () => {
    const { page } = await open('/docs/quick-start');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^# Quick start\n/);
    await page.close();
  });

  test('an unknown page has the header and a link back', async () => {
    const { page } = await open('/docs/nothing');
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    await page.getByRole('link', { name: 'Documentation', exact: true }).click();
    await page.waitForURL('**/docs/');
    await page.close();
  });

  test('an unknown page has its text and links without JavaScript', async () => {
    const page = await newPage(browser, { javaScriptEnabled: false });
    await page.goto(`${target.url}/docs/nothing`);
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    await page.getByRole('link', { name: 'Documentation' }).click();
    await page.waitForURL('**/docs/');
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

  // One page of each kind.
  const kinds = [
    '/',
    '/docs/',
    '/docs/quick-start',
    '/docs/asynchronous-tasks',
    '/docs/errors',
    '/docs/settings',
    '/docs/models/',
    '/docs/models/voxa-v3-flash',
    '/docs/http/speech',
    '/docs/events/realtime',
    '/docs/nothing',
  ];
  test.each(schemes.flatMap((scheme) => [1440, 390].map((width) => [scheme, width] as const)))(
    'the pages have no accessibility violations, %s, %i pixels wide',
    async (scheme, width) => {
      for (const path of kinds) {
        const { page } = await open(path, scheme, width);
        expect(await problems(page), path).toEqual([]);
        await page.close();
      }
    },
  );

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
    const page = await newPage(browser);
    await page.addInitScript(`localStorage.setItem('unigate-key', ${JSON.stringify(target.key)})`);
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const output = page.locator('output');
    await output.filter({ hasText: /\d/ }).waitFor();
    expect(await output.innerText()).toMatch(snippet?.shows ?? /no pattern/);
    await page.close();
    server.close();
  });
});
