import { afterEach, describe, expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError, expectProviderError } from '../../support/expectations.ts';
import { testSdkRetries } from '../../support/sdk-retry-tests.ts';

const image = (type: string, url = 'https://files.example/a.png') => ({ type, url });
/** Short, so that the sandbox completes it quickly. */
const shortVideo = { resolution: '480P', duration: 2 };
const about = (prompt: string, parameters: object = {}) => ({
  model: 'gamma3.0-video-prime',
  input: { prompt },
  parameters: { ...shortVideo, ...parameters },
});

describeOperation('createNativeVideo', {
  invalid: {
    'without a model': { change: { model: undefined }, field: 'model' },
    'without an input': { change: { input: undefined }, field: 'input' },
    'neither a prompt nor media': {
      change: { input: { prompt: undefined, media: undefined } },
      field: 'input',
    },
    'a media kind that does not exist': {
      change: { input: { media: [image('background')] } },
      field: 'input.media.0.type',
      limit: 'reference_image',
    },
    'media without a URL': {
      change: { input: { media: [{ type: 'first_frame' }] } },
      field: 'input.media.0.url',
    },
    '11 reference images': {
      change: { input: { media: Array(11).fill(image('reference_image')) } },
      field: 'input.media',
      limit: 10,
    },
    'a first frame and a reference image': {
      change: { input: { media: [image('first_frame'), image('reference_image')] } },
      field: 'input.media.1.type',
      limit: 'last_frame',
      code: 'invalid_media_combination',
    },
    'a file and a link': {
      change: {
        input: {
          media: [
            { type: 'file', url: 'https://files.example/a.pdf' },
            { type: 'link', url: 'https://files.example/' },
          ],
        },
      },
      field: 'input.media',
      limit: 1,
      code: 'invalid_media_combination',
    },
    'a link that is not a web page': {
      change: { input: { media: [{ type: 'link', url: 'ftp://files.example/a' }] } },
      field: 'input.media.0.url',
    },
    'a length of 31 seconds': {
      change: { parameters: { duration: 31 } },
      field: 'parameters.duration',
      limit: 30,
    },
    'a length of 1 second': {
      change: { parameters: { duration: 1 } },
      field: 'parameters.duration',
      limit: 2,
    },
    'a seed over 2147483647': {
      change: { parameters: { seed: 2_147_483_648 } },
      field: 'parameters.seed',
      limit: 2_147_483_647,
    },
    'a resolution that does not exist': {
      change: { parameters: { resolution: '4K' } },
      field: 'parameters.resolution',
      limit: '1080P',
    },
    'a watermark that is a string': {
      change: { parameters: { watermark: 'yes' } },
      field: 'parameters.watermark',
    },
    'a synchronous call': {
      headers: { 'X-Native-Async': 'disable' },
      field: 'x-native-async',
      limit: 'enable',
    },
  },
  gatewayTests: (call) => {
    test.each(['text', 'frames', 'references', 'link'])('200 the documented %s', async (example) => {
      const response = await call({ example });
      expect(response.status).toBe(200);
      expect(jsonOf(response)).toEqual({
        output: { task_id: expect.stringMatching(/^task_[0-9a-f]{32}$/), task_status: 'PENDING' },
        request_id: response.headers.get('x-request-id'),
      });
    });
    test('200 with and without the async header', async () => {
      for (const headers of [{}, { 'X-Native-Async': 'enable' }])
        expect((await call({ body: about('A kite.'), headers })).status).toBe(200);
    });
    test('200 a prompt of 20,001 characters', async () => {
      expect((await call({ body: about('a'.repeat(20_001)) })).status).toBe(200);
    });
    testSdkRetries(call, () => ({ body: about('A retried kite.') }));
    test('200 the same task for the same idempotency key', async () => {
      const headers = { 'idempotency-key': `native-${process.pid}-${performance.now()}` };
      const createTask = async () =>
        jsonOf(await call({ body: about('A kite.'), headers })) as { output: object };
      expect((await createTask()).output).toEqual((await createTask()).output);
    });

    const refused: [string, object, string, string][] = [
      [
        'an asset',
        { input: { media: [image('first_frame', 'asset://asset-1-a')] } },
        'input.media.0.url',
        'http',
      ],
      [
        'an inline video',
        { input: { media: [image('reference_video', 'data:video/mp4;base64,AAAA')] } },
        'input.media.0.url',
        'URL',
      ],
      [
        'an inline GIF',
        { input: { media: [image('first_frame', 'data:image/gif;base64,AAAA')] } },
        'input.media.0.url',
        'WEBP',
      ],
      [
        'an output that leaves no second to its input',
        { input: { media: [image('reference_video')] }, parameters: { duration: 30 } },
        'parameters.duration',
        '29',
      ],
      ['a Seedance model', { model: 'epsilon-delta-2-0-260128' }, 'model', 'epsilon-delta-2-0-260128'],
      ['a 3D model', { model: 'theta-3d' }, 'model', 'theta-3d'],
    ];
    test.each(refused)('400 %s', async (_, change, field, includes) => {
      const response = await call({ body: { ...about('A kite.'), ...change } });
      expectError(response, 400, { code: 'invalid_request', field, includes: [includes] });
    });
    test('404 an unknown model', async () => {
      const response = await call({ body: { ...about('A kite.'), model: 'gamma9' } });
      expectError(response, 404, { code: 'model_not_found', field: 'model', includes: ['gamma9'] });
    });
    test('403 for a key without quota or without access to the model', async () => {
      const quota = { code: 'insufficient_user_quota', field: 'quota', includes: ['2 seconds'] };
      expectError(await call({ body: about('A kite.'), as: 'noQuota' }), 403, quota);
      expectError(await call({ body: about('A kite.'), as: 'noModels' }), 403, { code: 'access_denied' });
    });

    describe('if the provider fails', () => {
      // Three consecutive failures would disable the channel, so a success comes in between.
      afterEach(async () => {
        expect((await call({ body: about('A kite.') })).status).toBe(200);
      });

      test('400 a rejection, unchanged', async () => {
        expectProviderError(await call({ body: about('[[reject]]') }), 400, 'DataInspectionFailed');
      });
      test('429 throttled, unchanged', async () => {
        const response = await call({ body: about('[[throttle]]') });
        expectProviderError(response, 429, 'Throttling.RateQuota');
        expect(response.headers.get('retry-after')).toBe('1');
      });
      test.each(['unauthorized', 'denied', 'error', 'malformed', 'drop'])(
        '502 %s, with a message of the gateway',
        async (trigger) => {
          expectError(await call({ body: about(`[[${trigger}]]`) }), 502);
        },
      );
      test('503 unavailable', async () => {
        expectError(await call({ body: about('[[unavailable]]') }), 503);
      });
    });
  },
});
