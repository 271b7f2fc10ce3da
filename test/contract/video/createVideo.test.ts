import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { testSdkRetries } from '../../support/sdk-retry-tests.ts';
import { eta } from '../../support/start-video.ts';

describeOperation('createVideo', {
  invalid: {
    'without a model': { change: { model: undefined }, field: 'model' },
    'an eta request without a prompt': {
      example: 'eta_text',
      change: { prompt: undefined },
      field: 'prompt',
    },
    'an eta prompt of 4097 characters': {
      example: 'eta_text',
      change: { prompt: 'a'.repeat(4097) },
      field: 'prompt',
      limit: 4096,
    },
    'an eta length of 16 seconds': { example: 'eta_text', change: { seconds: '16' }, field: 'seconds' },
    'an eta length of 0': {
      example: 'eta_text',
      change: { seconds: undefined, duration: 0 },
      field: 'duration',
    },
    'an eta length of -1 without a video': {
      example: 'eta_text',
      change: { seconds: '-1' },
      field: 'seconds',
    },
    'an eta image beside reference images': {
      example: 'eta_references',
      change: { image: 'https://files.example/a.png' },
      field: 'image',
      code: 'invalid_media_combination',
    },
    'a gamma first frame beside a video': {
      example: 'gamma_first_frame',
      change: { video: { url: 'https://files.example/a.mp4' } },
      field: 'video',
      code: 'invalid_media_combination',
    },
    'two start images': {
      example: 'gamma_first_frame',
      change: { input_reference: { image_url: 'https://files.example/a.png' } },
      field: 'input_reference',
      code: 'invalid_media_combination',
    },
    'neither a prompt nor media': { example: 'gamma_text', change: { prompt: '' }, field: 'prompt' },
    'an image of another scheme': {
      example: 'gamma_first_frame',
      change: { image: 'file:///etc/passwd' },
      field: 'image',
    },
    'an eta aspect ratio that does not exist': {
      example: 'eta_text',
      change: { aspect_ratio: '21:9' },
      field: 'aspect_ratio',
      limit: '16:9',
    },
    '8 eta reference images': {
      example: 'eta_references',
      change: { reference_images: Array(8).fill({ url: 'https://files.example/a.png' }) },
      field: 'reference_images',
      limit: 7,
    },
    'a reference image without an address': {
      example: 'eta_references',
      change: { reference_images: [{}] },
      field: 'reference_images.0.url',
    },
    'a gamma length of 31 seconds': {
      example: 'gamma_text',
      change: { seconds: undefined, duration: 31 },
      field: 'duration',
      limit: 30,
    },
    'a duration that is not a number': { change: { seconds: 'five' }, field: 'seconds' },
    'a custom domain with a path': { change: { custom_domain: 'files.example/a' }, field: 'custom_domain' },
    'a custom domain that ends in a hyphen': {
      change: { custom_domain: 'a-.example' },
      field: 'custom_domain',
    },
  },
  gatewayTests: (call) => {
    const queued = { object: 'video', status: 'queued', progress: 0, error: null };
    test.each([
      ['eta_text', { model: 'eta-imagine-video', seconds: '8', size: '720p' }],
      ['gamma_text', { model: 'gamma3.0-video-prime', seconds: '5', size: '720P' }],
      ['gamma_first_frame', { model: 'gamma3.0-video', seconds: '8' }],
      ['eta_edit', { model: 'eta-imagine-video' }],
    ])('200 %s', async (example, shown) => {
      const response = await call({ example, mediaType: 'application/json' });
      expect(response.status).toBe(200);
      expect(jsonOf(response)).toMatchObject({ ...queued, ...shown });
    });
    test.each([
      ['eta_references', { model: 'eta-imagine-video', seconds: '6', size: '480p' }],
      ['gamma_seed', { model: 'gamma3.0-video', seconds: '5' }],
    ])('200 %s as a form', async (example, shown) => {
      const response = await call({ example, mediaType: 'multipart/form-data' });
      expect(response.status).toBe(200);
      expect(jsonOf(response)).toMatchObject({ ...queued, ...shown });
    });
    testSdkRetries(call, () => ({ body: { ...eta, prompt: 'A retried boat.' } }));
    test('200 the same task for the same idempotency key', async () => {
      const headers = { 'idempotency-key': `videos-${process.pid}-${performance.now()}` };
      const [first, again] = [await call({ body: eta, headers }), await call({ body: eta, headers })];
      expect(first.status).toBe(200);
      expect(jsonOf(again)).toMatchObject({ id: (jsonOf(first) as { id: string }).id });
      expectError(await call({ body: { ...eta, seconds: '3' }, headers }), 400, {
        code: 'idempotency_key_reused',
      });
    });

    const image = 'https://files.example/a.png';
    const conflict = 'invalid_media_combination';
    test.each<[string, object, string, string]>([
      ['an image and reference images', { image, reference_images: [{ url: image }] }, conflict, 'image'],
      ['two start images', { image, input_reference: { image_url: image } }, conflict, 'input_reference'],
      [
        'a video on the 1.5 model',
        { model: 'eta-imagine-video-1.5-preview', video: { url: 'https://files.example/a.mp4' } },
        conflict,
        'video',
      ],
      ['lengths that disagree', { seconds: '4', duration: 5 }, conflict, 'duration'],
      ['an asset, which eta has not', { image: 'asset://a' }, 'invalid_request', 'image'],
      ['1080p by its pixels', { resolution: undefined, size: '1920x1080' }, 'invalid_request', 'size'],
      ['a speech model', { model: 'voxa-v3-flash' }, 'invalid_request', 'model'],
      ['a 3D model', { model: 'theta-3d' }, 'invalid_request', 'model'],
      [
        'gamma frames and references',
        { model: 'gamma3.0-video', image, reference_images: [{ url: image }] },
        conflict,
        'reference_images',
      ],
    ])('400 %s', async (_, change, code, field) => {
      expectError(await call({ body: { ...eta, ...change } }), 400, { code, field });
    });
    test('400 with the message of the provider', async () => {
      const response = await call({ body: { ...eta, prompt: '[[reject]]' } });
      expectError(response, 400, { code: 'invalid_argument' });
    });
    test('403 for a key without quota or without access to the model', async () => {
      const quota = { code: 'insufficient_user_quota', field: 'quota', includes: ['2 seconds'] };
      expectError(await call({ body: eta, as: 'noQuota' }), 403, quota);
      expectError(await call({ body: eta, as: 'noModels' }), 403, { code: 'access_denied' });
    });
    test('404 an unknown model', async () => {
      const response = await call({ body: { ...eta, model: 'eta-9' } });
      expectError(response, 404, { code: 'model_not_found', field: 'model', includes: ['eta-9'] });
    });
    test.each([
      ['throttle', 429, 'rate_limit_exceeded'],
      ['unauthorized', 502, 'bad_response_status_code'],
      ['error', 502, 'bad_response_status_code'],
      ['malformed', 502, 'bad_response'],
      ['drop', 502, 'do_request_failed'],
      ['unavailable', 503, 'get_channel_failed'],
    ])('%s of the provider becomes %i', async (trigger, status, code) => {
      expectError(await call({ body: { ...eta, prompt: `[[${trigger}]]` } }), status, { code });
      // Three consecutive failures would disable the channel, so a success comes in between.
      expect((await call({ body: eta })).status).toBe(200);
    });
  },
});
