import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { testSdkRetries } from '../../support/sdk-retry-tests.ts';
import { endless, finishedSongs, prefixes, startMusic } from '../../support/start-music.ts';

describeOperation('submitMusic', {
  invalid: {
    'without a prompt': { body: { mv: 'chirp-hawk' }, field: 'body', limit: 'prompt' },
    'a description of 201 characters': {
      example: 'inspiration',
      change: { gpt_description_prompt: 'a'.repeat(201) },
      field: 'gpt_description_prompt',
      limit: 200,
    },
    'an inspiration prompt of 201 characters': {
      body: { prompt: 'a'.repeat(201), custom_mode: 0 },
      field: 'prompt',
      limit: 200,
    },
    'lyrics of 3001 characters': {
      example: 'custom',
      change: { prompt: 'a'.repeat(3001) },
      field: 'prompt',
      limit: 3000,
    },
    'tags of 121 characters': { change: { tags: 'a'.repeat(121) }, field: 'tags', limit: 120 },
    'a model version that does not exist': {
      change: { mv: 'chirp-sparrow' },
      field: 'mv',
      limit: 'chirp-hawk',
    },
    'a mode of 2': { change: { custom_mode: 2 }, field: 'custom_mode' },
    'a continuation without a song': {
      example: 'continuation',
      change: { continue_clip_id: undefined },
      field: 'continue_clip_id',
    },
    'stems without a song': {
      example: 'stems',
      change: { continue_clip_id: undefined },
      field: 'continue_clip_id',
    },
    'a callback URL that is not a web URL': {
      change: { callback_url: 'ftp://app.example/' },
      field: 'callback_url',
    },
    'a slider over 1': {
      change: { metadata: { control_sliders: { style_weight: 1.5 } } },
      field: 'metadata.control_sliders.style_weight',
      limit: 1,
    },
  },
  gatewayTests: (call) => {
    const plain = { callback_url: undefined, ...endless };
    const taskId = expect.stringMatching(/^task_/);
    test.each([
      ['/sigma', { code: 'success', msg: '', data: taskId }],
      ['/sigma/v1', { code: 200, msg: 'success', data: [{ task_id: taskId, status: 1, title: 'Low tide' }] }],
      [
        '/sigma/v1/mv-3.5',
        { code: 200, msg: 'success', data: [{ task_id: taskId, status: 1, title: 'Low tide' }] },
      ],
    ])('200 a task in the format of %s', async (prefix, expected) => {
      const response = await call({ prefix, body: { title: 'Low tide', ...endless } });
      expect(response.status).toBe(200);
      expect(jsonOf(response)).toEqual({ ...expected, exec_time: expect.any(Number) });
    });
    testSdkRetries(call, () => ({ change: plain }));
    test.each(prefixes)('200 the same task for the same idempotency key at %s', async (prefix) => {
      const headers = { 'idempotency-key': `music-${prefix}-${process.pid}-${performance.now()}` };
      const again = async (change: object = {}) => call({ prefix, change: { ...plain, ...change }, headers });
      const [first, second] = [await again(), await again()];
      const { data } = jsonOf(first) as { data: unknown };
      expect([first.status, (jsonOf(second) as { data: unknown }).data]).toEqual([200, data]);
      expectError(await again({ title: 'Another' }), 400, { code: 'idempotency_key_reused' });
    });
    test('200 a continuation and stems of a song', { timeout: 90_000 }, async () => {
      const [song] = await finishedSongs();
      const change = { continue_clip_id: song?.id ?? '', continue_at: 1 };
      for (const example of ['continuation', 'stems'])
        expect((await call({ example, change })).status).toBe(200);
    });
    test('400 with the message of the provider', async () => {
      expectError(await call({ body: { prompt: 'Unsuitable. [[reject]]' } }), 400, {
        code: 'sensitive_words_detected',
      });
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
    test('404 an unknown song and one of another user', { timeout: 90_000 }, async () => {
      const [song] = await finishedSongs();
      const missing = { code: 'resource_not_found', field: 'continue_clip_id' };
      expectError(await call({ example: 'continuation' }), 404, missing);
      const change = { continue_clip_id: song?.id ?? '' };
      expectError(await call({ example: 'stems', change, as: 'noQuota' }), 404, missing);
    });
    test('409 a song that is not complete', async () => {
      const change = { continue_clip_id: await startMusic({ prompt: 'The sea. [[never]]' }) };
      const waiting = { code: 'resource_not_ready', field: 'continue_clip_id' };
      expectError(await call({ example: 'continuation', change }), 409, waiting);
    });
    test.each([
      ['unauthorized', 502, 'bad_response_status_code'],
      ['error', 502, 'bad_response_status_code'],
      ['malformed', 502, 'bad_response'],
      ['drop', 502, 'do_request_failed'],
      ['throttle', 429, 'rate_limit_exceeded'],
      ['unavailable', 503, 'get_channel_failed'],
    ])('%s of the provider becomes %i', async (trigger, status, code) => {
      expectError(await call({ body: { prompt: `The sea. [[${trigger}]]` } }), status, { code });
    });
  },
});
