import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { bundle } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

/** The scripts of a page without `src`. */
const inlineScripts = (page: string) =>
  [...page.matchAll(/<script(?![^>]* src=)[^>]*>([^]*?)<\/script>/g)].map(([, script = '']) => script);

/** Scripts run only from this gateway. Nothing is loaded from other hosts, and no other page can frame these. */
const policyWith = (scripts: readonly string[]) => {
  const hashes = [...new Set(scripts)].map(
    (script) => ` 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return `default-src 'self'; script-src 'self'${hashes.join('')}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' data: blob:; font-src 'self' data:; frame-ancestors 'none'; base-uri 'none'`;
};

describeOperation('getDocsFile', {
  invalid: {
    'a path of 201 characters': { path: { file: 'n'.repeat(201) }, field: 'file', limit: 200 },
  },
  gatewayTests: (call) => {
    const open = (file: string, headers = {}) =>
      call({ path: { file }, headers: { authorization: undefined, ...headers } });
    const assetOf = async (pattern: RegExp) =>
      pattern.exec((await open('quick-start')).body.toString())?.[1] ?? 'nothing';

    test.each([
      ['index.html', 'text/html; charset=utf-8'],
      ['reference.css', 'text/css; charset=utf-8'],
      ['scalar.js', 'text/javascript; charset=utf-8'],
      ['quick-start.md', 'text/markdown; charset=utf-8'],
      ['llms.txt', 'text/plain; charset=utf-8'],
      ['favicon.svg', 'image/svg+xml'],
      ['social-card.png', 'image/png'],
      ['asyncapi.json', 'application/json'],
    ])('200 %s without a key, with a policy against other hosts', async (file, mediaType) => {
      const response = await open(file);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, mediaType]);
      const scripts = file.endsWith('.html') ? inlineScripts(response.body.toString()) : [];
      expect(scripts.length).toBeGreaterThanOrEqual(file.endsWith('.html') ? 2 : 0);
      expect(response.headers.get('content-security-policy')).toBe(policyWith(scripts));
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    });
    test('200 the contract', async () => {
      expect(jsonOf(await open('openapi.json'))).toEqual({
        ...bundle,
        servers: expect.anything(),
      });
    });
    test.each(['errors', 'errors.html'])('200 the page under the address %s', async (file) => {
      const response = await open(file);
      expect([response.status, response.body.toString()]).toEqual([200, expect.stringContaining('<h1')]);
    });
    test.each([/src="\/docs\/(assets\/app\.[^"]+\.js)"/, /href="\/docs\/(assets\/style\.[^"]+\.css)"/])(
      '200 %s, which browsers store for a year',
      async (pattern) => {
        const response = await open(await assetOf(pattern));
        expect(response.status).toBe(200);
        expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      },
    );
    test('200 compressed if the client accepts it', async () => {
      const [plain, compressed] = [
        await open('errors.html'),
        await open('errors.html', { 'accept-encoding': 'gzip' }),
      ];
      expect(compressed.headers.get('content-encoding')).toBe('gzip');
      expect(compressed.body.equals(plain.body)).toBe(true);
      for (const { headers } of [plain, compressed]) expect(headers.get('vary')).toContain('accept-encoding');
    });
    test.each([
      'nothing.html',
      'assets',
      '..%2Fopenapi.json',
      'assets%2F..%2F..%2Fdocs.sha256',
      '%2Fetc%2Fpasswd',
      '.html',
      'index.html%00',
    ])('404 for %s', async (file) => {
      const response = await open(decodeURIComponent(file));
      if (file.endsWith('%00')) expect(response.status).toBe(400);
      else expectError(response, 404, { code: 'path_not_found', field: 'file' });
    });
    test('404 a page for browsers', async () => {
      const response = await open('nothing', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
      expect([response.status, response.headers.get('content-type')]).toEqual([
        404,
        'text/html; charset=utf-8',
      ]);
      expect(response.body.toString()).toContain('404');
    });
  },
});
