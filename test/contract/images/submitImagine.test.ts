import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { testSdkRetries } from '../../support/sdk-retry-tests.ts';

const plain = { notifyHook: undefined };

describeOperation('submitImagine', {
  invalid: {
    'without a prompt': { change: { prompt: undefined }, field: 'prompt' },
    'an empty prompt': { change: { prompt: '' }, field: 'prompt', limit: 1 },
    'a prompt of 20,001 characters': {
      change: { prompt: 'a'.repeat(20_001) },
      field: 'prompt',
      limit: 20_000,
    },
    'six images': {
      change: { base64Array: Array(6).fill('data:image/png;base64,iVBORw0KGgo=') },
      field: 'base64Array',
      limit: 5,
    },
    'an image that is a URL': {
      change: { base64Array: ['https://files.example/a.png'] },
      field: 'base64Array.0',
    },
    'a callback URL that is not a web URL': {
      change: { notifyHook: 'ftp://app.example' },
      field: 'notifyHook',
    },
    'a state of 8,193 characters': { change: { state: 's'.repeat(8_193) }, field: 'state', limit: 8_192 },
  },
  gatewayTests: (call) => {
    test('200 a job', async () => {
      const response = await call({ change: plain });
      expect(response.status).toBe(200);
      expect(jsonOf(response)).toEqual({
        code: 1,
        description: 'Submit success',
        result: expect.stringMatching(/^task_/),
        properties: {},
      });
    });
    testSdkRetries(call, () => ({ change: plain }));
    test('200 the same job for the same idempotency key', async () => {
      const headers = { 'idempotency-key': `imagine-${process.pid}-${performance.now()}` };
      const [first, again] = [await call({ change: plain, headers }), await call({ change: plain, headers })];
      expect([first.status, jsonOf(again)]).toEqual([200, jsonOf(first)]);
      expectError(await call({ change: { ...plain, prompt: 'another' }, headers }), 400, {
        code: 'idempotency_key_reused',
      });
    });
    test('400 a rejection by the provider', async () => {
      expectError(await call({ change: { ...plain, prompt: 'a harbour [[reject]]' } }), 400, {
        code: 'banned_word',
      });
    });
    test('429 throttling by the provider', async () => {
      expectError(await call({ change: { ...plain, prompt: 'a harbour [[throttle]]' } }), 429, {
        code: 'rate_limit_exceeded',
      });
    });
    test('403 for a key without quota or without access to the model', async () => {
      const quota = {
        code: 'insufficient_user_quota',
        field: 'quota',
        includes: ['1 actions of imgjob_image'],
      };
      expectError(await call({ change: plain, as: 'noQuota' }), 403, quota);
      expectError(await call({ change: plain, as: 'noModels' }), 403, { code: 'access_denied' });
    });
    test('502 a failure of the provider', async () => {
      expectError(await call({ change: { ...plain, prompt: 'a harbour [[error]]' } }), 502, {
        code: 'bad_response_status_code',
      });
    });
  },
});
