import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import asyncapi from '../../generated/asyncapi.json' with { type: 'json' };
import { errors } from '../../generated/errors.ts';
import { operations } from '../../generated/operations.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { sitePages } from './site-pages.ts';

const bodies = new Map<string, string>();
let target: TestGateway;
beforeAll(async () => {
  target = await startTestGateway({ sandbox: false });
  for (const page of sitePages) bodies.set(page, await (await fetch(target.url + page)).text());
});
afterAll(() => target.close());

const bodyOf = (page: string) => bodies.get(page) ?? '';
const idsOf = (body: string) => new Set([...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
const linksOf = (body: string) =>
  [...body.matchAll(/<(?:a|link)[^>]* href="([^"]+)"/g)].map(([, link = '']) => link);

test('the site has guides, models, operations, events, errors and settings', () => {
  const expected = [
    '/',
    '/docs/',
    '/docs/quick-start',
    '/docs/models/',
    '/docs/http/speech',
    '/docs/events/realtime',
  ];
  expect(sitePages).toEqual(
    expect.arrayContaining([
      ...expected,
      '/docs/errors',
      '/docs/settings',
      '/docs/decisions',
      '/docs/changelog',
    ]),
  );
});

test.each(sitePages)('all links of %s resolve', async (page) => {
  const problems: string[] = [];
  for (const link of new Set(linksOf(bodyOf(page)))) {
    const url = new URL(link.replaceAll('&amp;', '&'), target.url + page);
    if (url.origin !== target.url || /^\/(console|openapi\.json|asyncapi\.json)/.test(url.pathname)) continue;
    const [, operation] = /^#operation\/(\w+)$/.exec(url.hash) ?? [];
    const body = bodies.get(url.pathname) ?? (await pageAt(url.pathname));
    if (body === undefined) problems.push(link);
    else if (operation !== undefined ? !(operation in operations) : !hasAnchor(body, url.hash))
      problems.push(link);
  }
  expect(problems).toEqual([]);
});

const hasAnchor = (body: string, hash: string) =>
  hash === '' || idsOf(body).has(decodeURIComponent(hash.slice(1)));

/** Returns a page or file under another address than its own. Undefined: there is none. */
async function pageAt(path: string): Promise<string | undefined> {
  const response = await fetch(target.url + path);
  return response.status === 200 ? await response.text() : undefined;
}

test.each(['/docs/quick-start', '/docs/errors'])('%s is also at its former address', async (page) => {
  expect(await pageAt(`${page}.html`)).toBe(bodyOf(page));
});

test('no page loads resources from another host', () => {
  for (const [page, body] of bodies)
    expect(body, page).not.toMatch(/<(?:script|img|link|iframe)[^>]+(?:src|href)="(?:https?:)?\/\//);
});

test('no page shows a marker of the tests, of the address or of Markdown', () => {
  for (const [page, body] of bodies) {
    expect(body, page).not.toMatch(/(&lt;|<)!-- (?:writes|prints|shows|needs|run)/);
    expect(body, page).not.toContain('__home__/');
    expect(body, page).not.toContain('127.0.0.1:8080');
    expect(body, page).not.toMatch(/<p>:::/);
  }
});

test('each error code, operation and event has a heading', () => {
  const ids = new Set([...bodies.values()].flatMap((body) => [...idsOf(body)]));
  const events = Object.values(asyncapi.channels).flatMap(({ messages }) => Object.keys(messages));
  for (const name of [...errors.map(({ code }) => code), ...Object.keys(operations), ...events])
    expect(ids, name).toContain(name);
});

test.each([
  ['invalid_request', 'No. The same request fails again.'],
  [
    'rate_limit_exceeded',
    'Yes, after the number of seconds in <code>retry-after</code>, or after a short pause.',
  ],
  ['service_restarting', 'Yes, at once.'],
])('the section of %s states: %s', (code, sentence) => {
  const section = bodyOf('/docs/errors').split(`<h2 id="${code}"`)[1]?.split('<h2')[0];
  expect(section).toContain(
    `<td>Retry</td><td>${sentence}</td>`.replace('</td><td>', '</td>\n<td>').replace('\n', ''),
  );
});

test('llms.txt lists the pages, which exist as Markdown', async () => {
  const list = await (await fetch(`${target.url}/docs/llms.txt`)).text();
  const links = [...list.matchAll(/\]\((\S+\.md)\)/g)].map(([, link = '']) => link);
  expect(links.length).toBeGreaterThan(30);
  for (const link of links) {
    const response = await fetch(link);
    expect([link, response.status, response.headers.get('content-type')]).toEqual([
      link,
      200,
      'text/markdown; charset=utf-8',
    ]);
    expect(await response.text()).toMatch(/^# /);
  }
});

describe('behind a proxy with a path prefix', () => {
  test('links, styles and scripts have the prefix', async () => {
    const prefixed = await startTestGateway({ sandbox: false, publicUrl: 'https://gateway.example/speech' });
    const page = await (await fetch(`${prefixed.url}/docs/errors`)).text();
    const inner = linksOf(page).filter((link) => link.startsWith('/'));
    expect(inner.length).toBeGreaterThan(20);
    expect(inner.filter((link) => !link.startsWith('/speech/'))).toEqual([]);
    const [, script = ''] = / src="\/speech(\/docs\/assets\/app[^"]+)"/.exec(page) ?? [];
    expect(script).not.toBe('');
    const chunk = /href="\/speech(\/docs\/assets\/chunks\/framework[^"]+)"/.exec(page)?.[1] ?? '';
    expect(await (await fetch(prefixed.url + chunk)).text()).toContain('"/speech/"');
    await prefixed.close();
  });
});
