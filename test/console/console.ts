import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { problems } from '../docs/accessibility.ts';
import { launch, newPage } from '../docs/chromium.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

interface OpenOptions extends BrowserContextOptions {
  key?: string;
  /** Statuses of failed requests that the test expects. */
  failures?: readonly number[];
}

/** A console in Chromium, connected to a gateway with its sandbox. */
export interface ConsoleTarget {
  gateway: TestGateway;
  browser: Browser;
  /** Opens a page of the console (`#/speech`) with a signed-in key. Default: the gateway's first key. */
  open(hash: string, options?: OpenOptions): Promise<Page>;
}

/** Placed into each page: reports violations of the content security policy as errors. */
const reportViolations = `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  console.error('policy violation', violatedDirective, blockedURI));`;

/**
 * Starts the console for the tests of a file. Each test fails if one of its pages reported an error, violated the content
 * security policy or sent a request to another host. `start` replaces the gateway.
 */
export function useConsole(start: () => Promise<TestGateway> = startTestGateway): ConsoleTarget {
  const target: Partial<ConsoleTarget> = {};
  let faults: string[] = [];
  let pages: Page[] = [];
  beforeAll(async () => {
    [target.gateway, target.browser] = await Promise.all([start(), launch()]);
  });
  afterEach(async () => {
    const closed = pages;
    pages = [];
    await Promise.all(closed.map((page) => page.context().close()));
    const reported = faults;
    faults = [];
    expect(reported).toEqual([]);
  });
  afterAll(async () => {
    await target.browser?.close();
    await target.gateway?.close();
  });
  const started = () => {
    const { gateway, browser } = target;
    if (gateway === undefined || browser === undefined) throw new Error('The console has not started.');
    return { gateway, browser };
  };
  return {
    get gateway() {
      return started().gateway;
    },
    get browser() {
      return started().browser;
    },
    async open(hash, { key, failures = [], ...options } = {}) {
      const { gateway, browser } = started();
      const page = await newPage(browser, { viewport: { width: 1440, height: 900 }, ...options });
      pages.push(page);
      page.on('console', (message) => {
        const text = message.text();
        const isExpected = failures.some((status) => text.includes(`responded with a status of ${status} `));
        if (message.type() === 'error' && !isExpected) faults.push(text);
      });
      page.on('pageerror', (error) => faults.push(String(error)));
      page.on('request', (request) => {
        if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(gateway.url))
          faults.push(`request to ${request.url()}`);
      });
      await page.addInitScript(reportViolations);
      if (key !== '')
        await page.addInitScript(
          `sessionStorage.setItem("unigate-key", ${JSON.stringify(key ?? gateway.key)})`,
        );
      await page.goto(`${gateway.url}/console${hash}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      return page;
    },
  };
}

/** Expects no accessibility violations of the current state of a page, in both themes. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await problems(page), colorScheme).toEqual([]);
  }
}

/** Expects that the page is not wider than a narrow screen. */
export async function expectFits(page: Page): Promise<void> {
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
}
