import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';
import { faulty } from '../../support/faults.ts';

describeOperation('createVerificationSession', {
  invalid: {
    'a callback URL that is a number': { change: { callback_url: 7 }, field: 'callback_url' },
    'a callback URL that is not a web URL': {
      change: { callback_url: 'app.example' },
      field: 'callback_url',
    },
    'a callback URL of 2049 characters': {
      change: { callback_url: `https://app.example/${'a'.repeat(2029)}` },
      field: 'callback_url',
      limit: 2048,
    },
  },
  gatewayTests: (call) => {
    const failing = (word: string) => ({ body: { callback_url: `https://app.example/%5B%5B${word}%5D%5D` } });

    test('200 a pending session that expires after 30 minutes', async () => {
      const response = await call({ body: { callback_url: 'HTTPS://App.example/a?b=%20c&flag#/done' } });
      expect(response.status, response.body.toString('utf8', 0, 300)).toBe(200);
      const { data } = jsonOf(response) as { data: Record<string, string> };
      expect(data).toMatchObject({
        vendor_token: data.session_id,
        callback_url: 'https://app.example/a?b=%20c&flag#/done',
        status: 'pending',
        group_id: '',
        updated_at: data.created_at,
      });
      expect(data).not.toHaveProperty('result_code');
      expect(data.h5_link).toContain(data.session_id);
      expect(Date.parse(data.expires_at ?? '') - Date.parse(data.created_at ?? '')).toBe(1_800_000);
      expect(JSON.parse(data.raw_response ?? '')).toEqual({
        Result: { VendorToken: data.session_id, CallbackURL: data.callback_url, H5Link: data.h5_link },
      });
    });
    test('200 without a callback', async () => {
      const response = await call({ body: {} });
      expect(jsonOf(response)).toMatchObject({ data: { callback_url: '' } });
    });
    test.each(['https://user:word@app.example/', 'http://a\0b/'])(
      '400 %j is not a valid callback URL',
      async (callback_url) => {
        expectError(await call({ body: { callback_url } }), 400, { field: 'callback_url' });
      },
    );
    test.each(['http://127.0.0.1/verified', 'http://localhost:3000/', 'http://[::1]/'])(
      '400 %j is not a public URL',
      async (callback_url) => {
        const response = await exchange(await faulty(), documented('createVerificationSession'), {
          body: { callback_url },
        });
        expectError(response, 400, { field: 'callback_url' });
      },
    );
    test('400 a rejection by the provider', async () => {
      expectError(await call(failing('reject')), 400);
    });
    test('403 for a key without access and one without quota', async () => {
      expectError(await call({ as: 'noModels' }), 403, { field: 'model' });
      expectError(await call({ as: 'noQuota' }), 403, { field: 'quota' });
    });
    test('429 with retry-after if the provider throttles', async () => {
      const response = await call(failing('throttle'));
      expectError(response, 429);
      expect(response.headers.get('retry-after')).toBe('1');
    });
    test.each([
      [502, 'error'],
      [502, 'unauthorized'],
      [502, 'denied'],
      [502, 'malformed'],
      [502, 'drop'],
      [503, 'unavailable'],
    ])('%i for [[%s]]', async (status, word) => {
      expectError(await call(failing(word)), status);
    });
  },
});

test('the mock returns the created session', async () => {
  const mock = inject('mock');
  const created = await exchange(mock, documented('createVerificationSession'));
  const { session_id } = (jsonOf(created) as { data: { session_id: string } }).data;
  const read = await exchange(mock, documented('getVerificationSession'), { path: { session_id } });
  expect(jsonOf(read)).toMatchObject({ data: { session_id, vendor_token: session_id } });
});
