import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { testSdkRetries } from '../../support/sdk-retry-tests.ts';
import { prefixes } from '../../support/start-music.ts';

describeOperation('submitLyrics', {
  invalid: {
    'without a prompt': { change: { prompt: undefined }, field: 'prompt' },
    'an empty prompt': { change: { prompt: '' }, field: 'prompt', limit: 1 },
    'a prompt that is a list': { change: { prompt: ['a lullaby'] }, field: 'prompt' },
    'a prompt of 3001 characters': { change: { prompt: 'a'.repeat(3001) }, field: 'prompt', limit: 3000 },
  },
  gatewayTests: (call) => {
    test.each(prefixes)('200 a task at %s with a callback URL', async (prefix) => {
      const response = await call({ prefix });
      const [code, msg] = prefix === '/sigma' ? ['success', ''] : [200, 'success'];
      const data = expect.stringMatching(/^task_/);
      const rest = { message: msg, exec_time: expect.any(Number), ip: '127.0.0.1' };
      expect([response.status, jsonOf(response)]).toEqual([200, { code, msg, data, ...rest }]);
    });
    testSdkRetries(call, () => ({ body: { prompt: 'A retried sea.' } }));
    test('200 the same task for the same idempotency key', async () => {
      const headers = { 'idempotency-key': `lyrics-${process.pid}-${performance.now()}` };
      const dataOf = async (change: object = {}) => {
        const response = await call({ headers, change: { ...change } });
        return [response.status, (jsonOf(response) as { data?: unknown }).data];
      };
      const first = await dataOf();
      expect([first[0], await dataOf()]).toEqual([200, first]);
      const other = await call({ headers, change: { prompt: 'Another' } });
      expectError(other, 400, { code: 'idempotency_key_reused' });
    });
    test('400 with the message of the provider', async () => {
      expectError(await call({ body: { prompt: '[[reject]]' } }), 400, {
        code: 'sensitive_words_detected',
      });
    });
    test('403 for a key without quota or without access to the model', async () => {
      const quota = {
        code: 'insufficient_user_quota',
        field: 'quota',
        includes: ['1 actions of sigma_lyrics'],
      };
      expectError(await call({ as: 'noQuota' }), 403, quota);
      expectError(await call({ as: 'noModels' }), 403, { code: 'access_denied' });
    });
  },
});
