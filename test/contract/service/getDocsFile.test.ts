import { expect, test } from 'vitest';
import { bundle } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

/** Scripts run only from this gateway. Nothing is loaded from other hosts, and no other page can frame these. */
const policy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' data: blob:; font-src 'self' data:; frame-ancestors 'none'; base-uri 'none'";

describeOperation('getDocsFile', {
  invalid: {
    'a name of 65 characters': { path: { file: 'n'.repeat(65) }, field: 'file', limit: 64 },
  },
  gatewayTests: (call) => {
    const open = (file: string, headers = {}) =>
      call({ path: { file }, headers: { authorization: undefined, ...headers } });
    test.each([
      ['index.html', 'text/html; charset=utf-8'],
      ['site.css', 'text/css; charset=utf-8'],
      ['scalar.js', 'text/javascript; charset=utf-8'],
      ['asyncapi.json', 'application/json'],
    ])('200 %s without a key, with a policy against other hosts', async (file, mediaType) => {
      const response = await open(file);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, mediaType]);
      expect(response.headers.get('content-security-policy')).toBe(policy);
    });
    test('200 the contract', async () => {
      expect(jsonOf(await open('openapi.json'))).toEqual({
        ...bundle,
        servers: expect.anything(),
      });
    });
    test('200 compressed if the client accepts it', async () => {
      const [plain, compressed] = [
        await open('errors.html'),
        await open('errors.html', { 'accept-encoding': 'gzip' }),
      ];
      expect(compressed.headers.get('content-encoding')).toBe('gzip');
      expect(compressed.body.equals(plain.body)).toBe(true);
      for (const { headers } of [plain, compressed]) expect(headers.get('vary')).toContain('accept-encoding');
    });
    test.each(['nothing.html', 'index', '..%2Fopenapi.json', '%2Fetc%2Fpasswd', '.html', 'index.html%00'])(
      '404 for %s',
      async (file) => {
        const response = await open(decodeURIComponent(file));
        if (file.endsWith('%00')) expect(response.status).toBe(400);
        else expectError(response, 404, { code: 'path_not_found', field: 'file' });
      },
    );
  },
});
