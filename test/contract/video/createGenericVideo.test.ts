import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { testSdkRetries } from '../../support/sdk-retry-tests.ts';
import { eta } from '../../support/start-video.ts';

describeOperation('createGenericVideo', {
  invalid: {
    'without a model': { change: { model: undefined }, field: 'model' },
    'without a prompt': { change: { prompt: undefined }, field: 'prompt' },
    'a prompt that is a number': { change: { prompt: 7 }, field: 'prompt' },
    'a gamma length of 31 seconds': {
      example: 'gamma_text',
      change: { seconds: undefined, duration: 31 },
      field: 'duration',
      limit: 30,
    },
    'a gamma length of 1 second': {
      example: 'gamma_text',
      change: { seconds: undefined, duration: 1 },
      field: 'duration',
      limit: 2,
    },
    'a gamma size that does not exist': {
      example: 'gamma_text',
      change: { size: '4k' },
      field: 'size',
      limit: '1080P',
    },
    '3 gamma images': {
      change: { images: Array(3).fill('https://files.example/a.png') },
      field: 'images',
      limit: 2,
    },
    'an image that is not a URL': { change: { image: 'cat.png' }, field: 'image' },
    'native media with two first frames': {
      example: 'gamma_native_media',
      change: {
        metadata: {
          input: {
            media: [
              { type: 'first_frame', url: 'https://files.example/a.png' },
              { type: 'first_frame', url: 'https://files.example/b.png' },
            ],
          },
        },
      },
      field: 'metadata.input.media',
      limit: 1,
    },
    'a native seed below 0': {
      example: 'gamma_text',
      change: { metadata: { parameters: { seed: -1 } } },
      field: 'metadata.parameters.seed',
      limit: 0,
    },
    'a Seedance length of 3 seconds': {
      example: 'seedance_references',
      change: { seconds: undefined, duration: 3 },
      field: 'duration',
      limit: 4,
    },
    'an eta length of 16 seconds': { body: { ...eta, seconds: '16' }, field: 'seconds' },
  },
  gatewayTests: (call) => {
    test.each([
      ['gamma_text', { model: 'gamma3.0-video-prime', seconds: '5', size: '720P' }],
      ['gamma_frames', { model: 'gamma3.0-video', seconds: '8' }],
      ['gamma_native_media', { model: 'gamma3.0-video-prime', size: '1080P' }],
      ['seedance_edit', { model: 'epsilon-delta-2-5-260628' }],
    ])('200 %s', async (example, shown) => {
      const response = await call({ example });
      expect(response.status).toBe(200);
      const task = { object: 'video', status: 'queued', progress: 0, error: null };
      expect(jsonOf(response)).toMatchObject({ ...task, ...shown });
    });
    test('200 an eta model', async () => {
      const response = await call({ body: eta });
      expect(response.status).toBe(200);
      expect(jsonOf(response)).toMatchObject({ model: eta.model, seconds: '2', size: '480p' });
    });

    const image = 'https://files.example/a.png';
    const gamma = { model: 'gamma3.0-video', prompt: 'A paper boat.' };
    const conflict = 'invalid_media_combination';
    test.each<[string, object, string, string]>([
      [
        'frames and references',
        { ...gamma, image, reference_images: [{ url: image }] },
        conflict,
        'reference_images',
      ],
      [
        'an option of other models',
        { ...gamma, metadata: { camera_fixed: true } },
        'invalid_request',
        'metadata.camera_fixed',
      ],
      ['lengths that disagree on eta', { ...eta, seconds: '4', duration: 5 }, conflict, 'duration'],
      ['a speech model', { ...gamma, model: 'voxa-v3-flash' }, 'invalid_request', 'model'],
    ])('400 %s', async (_, body, code, field) => {
      expectError(await call({ body: { ...body } }), 400, { code, field });
    });
    test('200 seconds before duration on gamma', async () => {
      const response = await call({ body: { ...gamma, seconds: '4', duration: 5 } });
      expect([response.status, jsonOf(response)]).toEqual([200, expect.objectContaining({ seconds: '4' })]);
    });
    testSdkRetries(call, () => ({ body: { ...gamma, prompt: 'A retried boat.' } }));
    test('400 an unknown asset', async () => {
      const body = { ...gamma, model: 'epsilon-delta-2-0-260128', image: 'asset://nobody' };
      expectError(await call({ body }), 400, { includes: ['nobody'] });
    });
    test('403 for a key without quota or without access to the model', async () => {
      expectError(await call({ body: gamma, as: 'noQuota' }), 403, { code: 'insufficient_user_quota' });
      expectError(await call({ body: gamma, as: 'noModels' }), 403, { code: 'access_denied' });
    });
    test('404 an unknown model', async () => {
      const response = await call({ body: { ...gamma, model: 'gamma9' } });
      expectError(response, 404, { code: 'model_not_found', field: 'model', includes: ['gamma9'] });
    });
    test.each([
      ['gamma_media', { model: 'gamma3.0-video-prime', seconds: '8' }],
      ['seedance_references', { model: 'epsilon-delta-2-0-260128' }],
    ])('200 a form, %s', async (example, shown) => {
      const response = await call({ example, mediaType: 'multipart/form-data' });
      expect([response.status, jsonOf(response)]).toEqual([200, expect.objectContaining(shown)]);
    });
    test('400 a form without a prompt', async () => {
      const headers = { 'content-type': 'multipart/form-data; boundary=x' };
      const body = '--x\r\ncontent-disposition: form-data; name="model"\r\n\r\ngamma3.0-video\r\n--x--\r\n';
      expectError(await call({ body, headers }), 400, { code: 'invalid_request', field: 'prompt' });
    });
    test.each([
      ['reject', 400],
      ['throttle', 429],
      ['error', 502],
      ['malformed', 502],
      ['unavailable', 503],
    ])('%s of the provider becomes %i', async (trigger, status) => {
      expectError(await call({ body: { ...gamma, prompt: `[[${trigger}]]` } }), status);
      // Three consecutive failures would disable the channel, so a success comes in between.
      expect((await call({ body: gamma })).status).toBe(200);
    });
  },
});
