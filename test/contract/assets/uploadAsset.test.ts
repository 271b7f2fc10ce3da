import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

// Fetching it is rejected, so that no request leaves this machine.
const image = { url: 'http://127.0.0.1:9/cat.png', asset_type: 'Image' };
const overseas = 'zeta-delta-2-0-fast-260128';

describeOperation('uploadAsset', {
  invalid: {
    'without a URL': { change: { url: undefined }, field: 'url' },
    'Base64 instead of a URL': { change: { url: 'data:image/png;base64,iVBORw0KGgo=' }, field: 'url' },
    'an address of another scheme': { change: { url: 'ftp://files.example/cat.png' }, field: 'url' },
    'an address of 4097 characters': {
      change: { url: `https://files.example/${'a'.repeat(4075)}` },
      field: 'url',
      limit: 4096,
    },
    'without a type': { change: { asset_type: undefined }, field: 'asset_type' },
    'a type that does not exist': { change: { asset_type: 'Document' }, field: 'asset_type' },
    'a name of 201 characters': { change: { name: 'n'.repeat(201) }, field: 'name', limit: 200 },
    'a group id of 65 characters': { change: { group_id: 'g'.repeat(65) }, field: 'group_id', limit: 64 },
    'a model that takes no query': {
      query: { model: 'epsilon-delta-2-0-260128' },
      field: 'model',
      limit: 'zeta',
    },
  },
  gatewayTests: (call) => {
    test.each<[string, Record<string, string>, Record<string, string>]>([
      ['an image', { ...image, name: 'cat' }, {}],
      ['a video, whatever the letter case', { ...image, asset_type: 'VIDEO' }, {}],
      ['audio for the overseas model', { ...image, asset_type: 'audio' }, { model: overseas }],
    ])('200 %s', async (_title, body, query) => {
      const response = await call({ body, query });
      expect(response.status, response.body.toString('utf8', 0, 300)).toBe(200);
      expect(jsonOf(response)).toMatchObject({
        code: 0,
        data: { Id: expect.stringMatching(/^asset-\d{14}-[a-z0-9]{5}$/) },
      });
    });
    test('200 for a key without quota, because uploads are free', async () => {
      expect((await call({ body: image, as: 'noQuota' })).status).toBe(200);
    });
    test.each(['https://', 'http://files.example:99999/a.png', 'http://a\0b/'])(
      '400 the URL %j is invalid',
      async (url) => {
        const response = await call({ body: { ...image, url } });
        expectError(response, 400, { code: 'invalid_request', field: 'url' });
      },
    );
    test('400 a name with a NUL character', async () => {
      const response = await call({ body: { ...image, name: 'a\0b' } });
      expectError(response, 400, { code: 'invalid_request', field: 'name' });
    });
    test('400 the group of an unverified person', async () => {
      const response = await call({ body: { ...image, group_id: 'group-20310201093512-a1b2c' } });
      expectError(response, 400, { code: 'invalid_request', field: 'group_id' });
    });
    test('400 a rejection by the provider', async () => {
      const response = await call({ body: { ...image, name: '[[reject]]' } });
      expect(response.status).toBe(400);
      expect(jsonOf(response)).toMatchObject({ error: { code: expect.any(String) } });
    });
    test('403 for a key without access to Seedance models', async () => {
      const queries: Record<string, string>[] = [{}, { model: overseas }];
      for (const query of queries) {
        const response = await call({ body: image, query, as: 'noModels' });
        expectError(response, 403, { code: 'access_denied', field: 'model' });
      }
    });
    test.each([
      [429, '[[throttle]]', 'rate_limit_exceeded'],
      [502, '[[error]]', 'bad_response_status_code'],
      [503, '[[unavailable]]', 'get_channel_failed'],
    ])('%i if the provider fails', async (status, name, code) => {
      expectError(await call({ body: { ...image, name } }), status, { code });
    });
  },
});
