import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';
import { faulty } from '../../support/faults.ts';

describeOperation('createVerificationSession', {
  invalid: {
    'a callback that is a number': { change: { callback_url: 7 }, field: 'callback_url' },
    'a callback that is no web address': { change: { callback_url: 'app.example' }, field: 'callback_url' },
    'a callback of 2049 characters': {
      change: { callback_url: `https://app.example/${'a'.repeat(2029)}` },
      field: 'callback_url',
      limit: 2048,
    },
  },
  gatewayTests: (call) => {
    const failing = (word: string) => ({ body: { callback_url: `https://app.example/%5B%5B${word}%5D%5D` } });

    test('200 a session that waits for the end user, and ends in half an hour', async () => {
      const answer = await call({ body: { callback_url: 'HTTPS://App.example/a?b=%20c&flag#/done' } });
      expect(answer.status, answer.body.toString('utf8', 0, 300)).toBe(200);
      const { data } = jsonOf(answer) as { data: Record<string, string> };
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
      const answer = await call({ body: {} });
      expect(jsonOf(answer)).toMatchObject({ data: { callback_url: '' } });
    });
    test.each(['https://user:word@app.example/', 'http://a\0b/'])(
      '400 %j is no address to lead anybody to',
      async (callback_url) => {
        expectError(await call({ body: { callback_url } }), 400, { field: 'callback_url' });
      },
    );
    test.each(['http://127.0.0.1/verified', 'http://localhost:3000/', 'http://[::1]/'])(
      '400 %j is no public address',
      async (callback_url) => {
        const answer = await exchange(await faulty(), documented('createVerificationSession'), {
          body: { callback_url },
        });
        expectError(answer, 400, { field: 'callback_url' });
      },
    );
    test('400 the provider’s refusal', async () => {
      expectError(await call(failing('reject')), 400);
    });
    test('403 a key that may not use it, and one without quota', async () => {
      expectError(await call({ as: 'noModels' }), 403, { field: 'model' });
      expectError(await call({ as: 'noQuota' }), 403, { field: 'quota' });
    });
    test('429 with the time to wait, when the provider takes no more', async () => {
      const answer = await call(failing('throttle'));
      expectError(answer, 429);
      expect(answer.headers.get('retry-after')).toBe('1');
    });
    test.each([
      [502, 'error'],
      [502, 'unauthorized'],
      [502, 'denied'],
      [502, 'malformed'],
      [502, 'drop'],
      [503, 'unavailable'],
    ])('%i on [[%s]]', async (status, word) => {
      expectError(await call(failing(word)), status);
    });
  },
});

test('the mock gives the session that it made when it is read', async () => {
  const mock = inject('mock');
  const made = await exchange(mock, documented('createVerificationSession'));
  const { session_id } = (jsonOf(made) as { data: { session_id: string } }).data;
  const read = await exchange(mock, documented('getVerificationSession'), { path: { session_id } });
  expect(jsonOf(read)).toMatchObject({ data: { session_id, vendor_token: session_id } });
});
