import { afterEach, describe, expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { testSdkRetries } from '../../support/sdk-retry-tests.ts';

const about = (prompt: string) => ({ model: 'theta-3d', input: { prompt } });
const view = { type: 'png', file_token: 'https://files.example/horse.png' };

describeOperation('createModel3d', {
  invalid: {
    'without a model': { change: { model: undefined }, field: 'model' },
    'without an input': { change: { input: undefined }, field: 'input' },
    'a text beside an image': {
      example: 'text',
      change: { input: { image: 'https://files.example/horse.png' } },
      field: 'input',
      code: 'invalid_media_combination',
    },
    'a prompt of 1025 characters': {
      example: 'text',
      change: { input: { prompt: 'a'.repeat(1025) } },
      field: 'input.prompt',
      limit: 1024,
    },
    '3 views': {
      example: 'views',
      change: { input: { images: [view, view, view] } },
      field: 'input.images',
      limit: 4,
    },
    'views without the front': {
      example: 'views',
      change: { input: { images: [{}, view, view, view] } },
      field: 'input.images.0.type',
    },
    'a texture quality that does not exist': {
      change: { parameters: { texture_quality: 'best' } },
      field: 'parameters.texture_quality',
      limit: 'detailed',
    },
  },
  gatewayTests: (call) => {
    test.each(['text', 'image', 'views'])('200 the documented %s', async (example) => {
      const response = await call({ example });
      expect(response.status).toBe(200);
      expect(jsonOf(response)).toEqual({
        output: { task_id: expect.stringMatching(/^task_[0-9a-f]{32}$/), task_status: 'PENDING' },
        request_id: response.headers.get('x-request-id'),
      });
    });
    testSdkRetries(call, () => ({ body: about('A retried horse.') }));
    test('200 the same task for the same idempotency key', async () => {
      const headers = { 'idempotency-key': `model3d-${process.pid}-${performance.now()}` };
      const createTask = async () =>
        jsonOf(await call({ body: about('A horse.'), headers })) as { output: object };
      expect((await createTask()).output).toEqual((await createTask()).output);
    });
    test('400 an asset as image and as view', async () => {
      const asset = 'asset://asset-1-a';
      const image = await call({ body: { model: 'theta-3d', input: { image: asset } } });
      expectError(image, 400, { code: 'invalid_request', field: 'input.image', includes: ['http'] });
      const images = [view, { ...view, file_token: asset }, {}, {}];
      const views = await call({ body: { model: 'theta-3d', input: { images } } });
      expectError(views, 400, { field: 'input.images.1.file_token', includes: ['http'] });
    });
    test('400 a video model, 404 an unknown one', async () => {
      const video = await call({ body: { ...about('A horse.'), model: 'gamma3.0-video' } });
      expectError(video, 400, { code: 'invalid_request', field: 'model' });
      const unknown = await call({ body: { ...about('A horse.'), model: 'theta-9' } });
      expectError(unknown, 404, { code: 'model_not_found', field: 'model' });
    });
    test('403 for a key without quota or without access to the model', async () => {
      const quota = { code: 'insufficient_user_quota', includes: ['1 actions'] };
      expectError(await call({ body: about('A horse.'), as: 'noQuota' }), 403, quota);
      expectError(await call({ body: about('A horse.'), as: 'noModels' }), 403, {
        code: 'access_denied',
      });
    });

    describe('if the provider fails', () => {
      // Three consecutive failures would disable the channel, so a success comes in between.
      afterEach(async () => {
        expect((await call({ body: about('A horse.') })).status).toBe(200);
      });

      test('400 a rejection, in the generic format', async () => {
        expectError(await call({ body: about('[[reject]]') }), 400, { code: 'DataInspectionFailed' });
      });
      test('429 throttled', async () => {
        expectError(await call({ body: about('[[throttle]]') }), 429, { code: 'rate_limit_exceeded' });
      });
      test.each(['unauthorized', 'error', 'malformed', 'drop'])('502 %s', async (trigger) => {
        expectError(await call({ body: about(`[[${trigger}]]`) }), 502);
      });
    });
  },
});
