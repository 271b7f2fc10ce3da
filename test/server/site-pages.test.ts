import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let target: TestGateway;
beforeAll(async () => {
  target = await startTestGateway({ sandbox: false, channels: [] });
});
afterAll(() => target.close());

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const open = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(target.url + path, { method, headers });

test.each(['/nope', '/v1/nope', '/console/nope', '/docs/nope'])(
  'shows a page to a browser at %s',
  async (path) => {
    const response = await open(path, browser);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ]);
    expect(response.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(await response.text()).toContain('<title>404');
    const head = await open(path, browser, 'HEAD');
    expect([head.status, await head.text()]).toEqual([404, '']);
  },
);

test.each([
  ['GET', {}],
  ['GET', { accept: 'application/json' }],
  ['POST', browser],
])('returns JSON to other clients: %s %j', async (method, headers) => {
  const response = await open('/nope', headers, method);
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ error: { code: 'path_not_found' } });
});

test.each(['/', '/docs', '/docs/quick-start', '/docs/favicon.svg', '/console', '/console/theme.js'])(
  'answers 304 for %s if the client has it',
  async (path) => {
    const first = await open(path, { 'accept-encoding': 'gzip' });
    await first.arrayBuffer();
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"[\w-]{27}"$/);
    for (const known of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
      const second = await open(path, { 'if-none-match': known });
      expect([second.status, await second.text(), second.headers.get('etag')]).toEqual([304, '', etag]);
      expect(second.headers.get('cache-control')).toBe(first.headers.get('cache-control'));
    }
    const changed = await open(path, { 'if-none-match': '"other"' });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, etag]);
    await changed.arrayBuffer();
  },
);
