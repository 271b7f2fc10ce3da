import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { testSdkRetries } from '../../support/sdk-retry-tests.ts';
import { endless, prefixes, startMusic } from '../../support/start-music.ts';

describeOperation('createMusic', {
  invalid: {
    'without an input': { change: { input: undefined }, field: 'input' },
    'an input that is a string': { change: { input: 'a slow song' }, field: 'input' },
    'without a prompt': { body: { input: { mv: 'chirp-hawk' } }, field: 'input', limit: 'prompt' },
    'an inspiration prompt of 201 characters': {
      body: { input: { prompt: 'a'.repeat(201) } },
      field: 'input.prompt',
      limit: 200,
    },
    'lyrics of 3001 characters': {
      example: 'custom',
      change: { input: { prompt: 'a'.repeat(3001) } },
      field: 'input.prompt',
      limit: 3000,
    },
    'a callback URL that is not a web URL': { change: { notify_hook: 'app.example' }, field: 'notify_hook' },
  },
  gatewayTests: (call) => {
    const plain = { notify_hook: undefined, input: endless };
    const accepted = { code: 200, message: 'success', data: { task_id: expect.stringMatching(/^task_/) } };
    test.each(prefixes.slice(1))('200 a task at %s, with the current version by default', async (prefix) => {
      const response = await call({ prefix, body: { input: { prompt: 'The sea', ...endless } } });
      expect([response.status, jsonOf(response)]).toEqual([200, accepted]);
    });
    testSdkRetries(call, () => ({ change: plain }));
    test('200 the same task for the same idempotency key', async () => {
      const headers = { 'idempotency-key': `music-a-${process.pid}-${performance.now()}` };
      const [first, again] = [await call({ change: plain, headers }), await call({ change: plain, headers })];
      expect([first.status, jsonOf(again)]).toEqual([200, jsonOf(first)]);
      const other = { ...plain, custom_mode: 1 };
      expectError(await call({ change: other, headers }), 400, { code: 'idempotency_key_reused' });
    });
    test('400 a URL inside of the input', async () => {
      const change = { input: { notify_hook: 'https://app.example/music' } };
      expectError(await call({ change }), 400, { code: 'invalid_request', field: 'input.notify_hook' });
    });
    test('400 with the message of the provider', async () => {
      const body = { input: { prompt: 'Unsuitable. [[reject]]' } };
      expectError(await call({ body }), 400, { code: 'sensitive_words_detected' });
    });
    test('403 for a key without quota or without access to the model', async () => {
      const quota = {
        code: 'insufficient_user_quota',
        field: 'quota',
        includes: ['2 tracks of sigma_music'],
      };
      expectError(await call({ change: plain, as: 'noQuota' }), 403, quota);
      expectError(await call({ change: plain, as: 'noModels' }), 403, { code: 'access_denied' });
    });
    test('404 an unknown song', async () => {
      const missing = { code: 'resource_not_found', field: 'input.continue_clip_id' };
      expectError(await call({ body: { input: { continue_clip_id: 'none' } } }), 404, missing);
    });
    test('409 a song that is not complete', async () => {
      const continue_clip_id = await startMusic({ prompt: 'The sea. [[never]]' });
      const waiting = { code: 'resource_not_ready', field: 'input.continue_clip_id' };
      expectError(await call({ body: { input: { continue_clip_id } } }), 409, waiting);
    });
  },
});
