import { expect, test } from 'vitest';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('getConsoleFile', {
  invalid: {
    'a path of 201 characters': { path: { file: 'n'.repeat(201) }, field: 'file', limit: 200 },
  },
  gatewayTests: (call) => {
    const open = (file: string) => call({ path: { file }, headers: { authorization: undefined } });

    test.each([
      ['theme.js', 'text/javascript; charset=utf-8'],
      ['icon.svg', 'image/svg+xml'],
    ])('200 %s without a key', async (file, mediaType) => {
      const response = await open(file);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, mediaType]);
      expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    });
    test('200 a style sheet, which browsers store for a year', async () => {
      const page = (await open('index.html')).body.toString();
      const [, file = ''] = /href="\/console\/(assets\/index-[\w-]+\.css)"/.exec(page) ?? [];
      const response = await open(file);
      expect([response.status, response.headers.get('content-type')]).toEqual([
        200,
        'text/css; charset=utf-8',
      ]);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    });
    test.each(['nothing.js', 'assets', '../docs/index.html'])('404 for %s', async (file) => {
      expectError(await open(file), 404, { code: 'path_not_found', field: 'file' });
    });
  },
});
