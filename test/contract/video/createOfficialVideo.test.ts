import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { testSdkRetries } from '../../support/sdk-retry-tests.ts';

const text = { type: 'text', text: 'A kite over the dunes.' };
const image = (role: string) => ({
  type: 'image_url',
  image_url: { url: 'https://files.example/a.png' },
  role,
});
const video = { type: 'video_url', video_url: { url: 'https://files.example/a.mp4' } };
const audio = { type: 'audio_url', audio_url: { url: 'https://files.example/a.mp3' } };
const modern = 'epsilon-delta-2-5-260628';
const plain = {
  model: 'epsilon-delta-2-0-fast-260128',
  content: [text],
  ratio: undefined,
  resolution: '480p',
  duration: 4,
  watermark: undefined,
};

describeOperation('createOfficialVideo', {
  invalid: {
    'without a model': { change: { model: undefined }, field: 'model' },
    'without content': { change: { content: undefined }, field: 'content' },
    'no content item': { change: { content: [] }, field: 'content', limit: 1 },
    'a content kind that does not exist': {
      change: { content: [{ type: 'smell' }] },
      field: 'content.0.type',
    },
    'an image without an address': {
      change: { content: [{ type: 'image_url' }] },
      field: 'content.0.image_url',
    },
    'two first frames': {
      change: { content: [text, image('first_frame'), image('first_frame')] },
      field: 'content',
      limit: 1,
    },
    '10 reference images on 2.0': {
      change: {
        model: 'epsilon-delta-2-0-260128',
        content: [text, ...Array(10).fill(image('reference_image'))],
      },
      field: 'content',
      limit: 9,
    },
    'a length of 16 seconds on 2.0': {
      change: { model: 'epsilon-delta-2-0-260128', duration: 16 },
      field: 'duration',
      limit: 15,
    },
    'a priority of 10': { change: { priority: 10 }, field: 'priority', limit: 9 },
    'an expiry of a minute': {
      change: { execution_expires_after: 60 },
      field: 'execution_expires_after',
      limit: 3600,
    },
    'a callback URL that is not a web URL': {
      change: { callback_url: 'file:///etc/passwd' },
      field: 'callback_url',
    },
  },
  gatewayTests: (call) => {
    test('200 a video from a text', async () => {
      const response = await call({ change: { ...plain, safety_identifier: 'user-1' } });
      expect(response.status).toBe(200);
      expect(jsonOf(response)).toEqual({ id: expect.stringMatching(/^task_/), safety_identifier: 'user-1' });
    });
    testSdkRetries(call, () => ({ change: plain }));
    test('200 the same task for the same idempotency key', async () => {
      const headers = { 'idempotency-key': `official-${process.pid}-${performance.now()}` };
      const [first, again] = [await call({ change: plain, headers }), await call({ change: plain, headers })];
      expect([first.status, jsonOf(again)]).toEqual([200, jsonOf(first)]);
      expect(jsonOf(first)).toEqual({ id: expect.stringMatching(/^task_/) });
    });

    const refused: [string, object, string, string, string][] = [
      [
        'a last frame alone',
        { content: [text, image('last_frame')] },
        'invalid_media_combination',
        'content.1',
        'first_frame',
      ],
      [
        'a first frame and a reference',
        { content: [image('first_frame'), image('reference_image')] },
        'invalid_media_combination',
        'content.1',
        'content.0',
      ],
      ['audio alone on 2.0', { content: [text, audio] }, 'invalid_request', 'content.1', 'image or a video'],
      ['frames and seconds', { frames: 96, duration: 4 }, 'invalid_media_combination', 'frames', 'duration'],
      [
        'an edit of 5 seconds',
        { model: modern, omni_reference_task_type: 'edit', content: [text, video], duration: 5 },
        'InvalidParameter.TaskTypeConstraint',
        'duration',
        '-1',
      ],
      [
        'an extension with a ratio',
        { model: modern, omni_reference_task_type: 'extend', content: [text, video], ratio: '16:9' },
        'InvalidParameter.TaskTypeConstraint',
        'ratio',
        'adaptive',
      ],
      ['a gamma model', { model: 'gamma3.0-video' }, 'invalid_request', 'model', 'gamma3.0-video'],
    ];
    test.each(refused)('400 %s', async (_, change, code, field, includes) => {
      expectError(await call({ change: { ...plain, duration: undefined, ...change } }), 400, {
        code,
        field,
        includes: [includes],
      });
    });
    test('400 with the message of the provider', async () => {
      const content = [{ type: 'text', text: 'Unsuitable. [[reject]]' }];
      expectError(await call({ change: { ...plain, content } }), 400, {
        code: 'InputTextSensitiveContentDetected',
      });
    });
    test('403 for a key without quota or without access to the model', async () => {
      const quota = { code: 'insufficient_user_quota', field: 'quota', includes: ['4 seconds'] };
      expectError(await call({ change: plain, as: 'noQuota' }), 403, quota);
      expectError(await call({ change: plain, as: 'noModels' }), 403, { code: 'access_denied' });
    });
    test('404 an unknown model', async () => {
      const response = await call({ change: { ...plain, model: 'epsilon-delta-9' } });
      expectError(response, 404, { code: 'model_not_found', field: 'model', includes: ['epsilon-delta-9'] });
    });
    test.each([
      ['unauthorized', 502, 'bad_response_status_code'],
      ['error', 502, 'bad_response_status_code'],
      ['malformed', 502, 'bad_response'],
      ['drop', 502, 'do_request_failed'],
    ])('%s of the provider becomes %i', async (trigger, status, code) => {
      const content = [{ type: 'text', text: `A boat. [[${trigger}]]` }];
      expectError(await call({ change: { ...plain, content } }), status, { code });
    });
  },
});
