import { NodeIO } from '@gltf-transform/core';
import { imageSize } from 'image-size';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { png } from '../sandbox-media/media-files.ts';
import { useFileHost } from '../sandbox-media/task-client.ts';
import { ledgerRows, logRows, makeKey, post, remainingQuota } from '../server/ledger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo } from '../support/upstream.ts';
import { cancel, model3dPath, poll, submit, waitForFinal } from './native-client.ts';
import { NativeUpstream } from './native-upstream.ts';

const request = { model: 'theta-3d', input: { prompt: 'A wooden horse.' } };
const imageUrl = 'https://files.example/horse.png';
const imageView = { type: 'png', file_token: imageUrl };
const glbUrl = 'https://files.example/horse.glb?signature=1';
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/);
const webpUrl = 'https://files.example/horse.webp?signature=1';

describe('a 3D task at a scripted upstream', () => {
  let upstream: NativeUpstream;
  let target: TestGateway;
  beforeAll(async () => {
    upstream = await NativeUpstream.start();
    const models = [
      { id: 'theta-*', upstream: undefined },
      { id: 'theta-3d', upstream: 'vendor-3d' },
    ];
    target = await startTestGateway({
      sandbox: false,
      channels: [channelTo(upstream.url, { models })],
      prices: { '*': 7 },
    });
  });
  beforeEach(() => upstream.reset());
  afterAll(async () => {
    await target.close();
    await upstream.close();
  });

  const lastRow = async () => (await ledgerRows(target)).at(-1);

  test.each([
    [{ prompt: 'A wooden horse.' }, { texture_quality: 'detailed', geometry_quality: 'ultra' }],
    [{ image: imageUrl }, { texture: false, pbr: false }],
    [{ images: [imageView, {}, imageView, {}] }, { seed: 0, style: 'x' }],
    [{ prompt: 'A wooden horse.' }, undefined],
  ])('forwards %j unchanged', async (input, parameters) => {
    await submit(target, model3dPath, { model: 'theta-3d', input, parameters });
    const [seen] = upstream.changes;
    expect(seen?.path).toBe(model3dPath);
    expect(seen?.headers['x-native-async']).toBe('enable');
    expect(seen?.body).toEqual({ model: 'vendor-3d', input, ...(parameters && { parameters }) });
  });

  test('returns its files at the native route, and costs one action', async () => {
    const results = { pbr_model_url: glbUrl, rendered_image_url: webpUrl };
    upstream.polls = [upstream.pollResponse('RUNNING'), upstream.pollResponse('SUCCEEDED', { results })];
    const { key, id: token } = await makeKey(target, { quota: 100 });
    const response = await post(target.url, key, model3dPath, request);
    const { output } = (await response.json()) as { output: { task_id: string } };
    expect(await remainingQuota(target, token)).toBe(93);
    const final = await waitForFinal(target, output.task_id);
    expect(final).toEqual({
      request_id: expect.stringMatching(/^req_/),
      output: {
        task_id: output.task_id,
        task_status: 'SUCCEEDED',
        submit_time: timestamp,
        scheduled_time: timestamp,
        end_time: timestamp,
        orig_prompt: 'A wooden horse.',
        results,
      },
      usage: { cost: 7 },
    });
    expect(await remainingQuota(target, token)).toBe(93);
    expect(await lastRow()).toEqual({ state: 'settled', reserved: 7, charged: 7, unit: 'actions' });
    expect((await logRows(target)).at(-1)).toMatchObject({ operation: 'createModel3d', units: 1, quota: 7 });
    const { expires_at: expiry, completed_at: end } = await target.gateway.store.read
      .selectFrom('tasks')
      .select(['expires_at', 'completed_at'])
      .where('id', '=', output.task_id)
      .executeTakeFirstOrThrow();
    expect((expiry ?? 0) - (end ?? 0)).toBe(2 * 3_600_000);
  });

  test.each([
    [400, { code: 'InvalidParameter', message: 'Bad.', request_id: 'r' }, 400, 'InvalidParameter'],
    [429, { code: 'Throttling', message: 'Slow.', request_id: 'r' }, 429, 'rate_limit_exceeded'],
    [401, { code: 'InvalidApiKey', message: 'upstream-key' }, 502, 'bad_response_status_code'],
    [200, '<html>', 502, 'bad_response'],
  ])(
    'returns a response of %i in the generic format, and costs nothing',
    async (status, body, expectedStatus, code) => {
      upstream.create = { status, body };
      const response = await post(target.url, target.key, model3dPath, request);
      const text = await response.text();
      expect([response.status, JSON.parse(text)]).toEqual([
        expectedStatus,
        { error: { code, message: expect.any(String), request_id: response.headers.get('x-request-id') } },
      ]);
      expect(text).not.toContain('upstream-key');
      expect(await lastRow()).toMatchObject({ state: 'refunded' });
    },
  );

  test('is refunded if it fails or is canceled', async () => {
    upstream.polls = [upstream.pollResponse('FAILED', { code: 'InternalError', message: 'Broken.' })];
    expect((await waitForFinal(target, await submit(target, model3dPath, request))).output).toMatchObject({
      task_status: 'FAILED',
      message: 'Broken.',
    });
    expect(await lastRow()).toMatchObject({ state: 'refunded', charged: null });
    upstream.reset();
    const id = await submit(target, model3dPath, request);
    expect((await cancel(target, id)).status).toBe(200);
    expect((await poll(target, id)).output.task_status).toBe('CANCELED');
    expect(await lastRow()).toMatchObject({ state: 'refunded', charged: null });
  });

  test('needs a model that a channel lists', async () => {
    expect((await post(target.url, target.key, model3dPath, { ...request, model: 'theta-4d' })).status).toBe(
      200,
    );
    expect((await post(target.url, target.key, model3dPath, { ...request, model: 'iota-3d' })).status).toBe(
      404,
    );
  });
});

describe('a 3D task of the sandbox', () => {
  const host = useFileHost();
  let target: TestGateway;
  beforeAll(async () => {
    // The media host of this file is at a private address.
    target = await startTestGateway({ callbacks: { allowPrivate: true, secret: undefined } });
  });
  afterAll(() => target.close());

  async function createModel(input: object, parameters: object) {
    const id = await submit(target, model3dPath, { model: 'theta-3d', input, parameters });
    const { output, usage } = await waitForFinal(target, id);
    expect([output.task_status, usage]).toEqual(['SUCCEEDED', { cost: 1 }]);
    const { pbr_model_url, base_model_url, rendered_image_url = '' } = output.results ?? {};
    const preview = new Uint8Array(await (await fetch(rendered_image_url)).arrayBuffer());
    expect(imageSize(preview).type).toBe('webp');
    const file = await fetch(pbr_model_url ?? base_model_url ?? '');
    expect(file.headers.get('content-type')).toBe('model/gltf-binary');
    const document = await new NodeIO().readBinary(new Uint8Array(await file.arrayBuffer()));
    const texture = document.getRoot().listMaterials()[0]?.getBaseColorTexture()?.getImage();
    return { pbr: pbr_model_url !== undefined, texture: texture ? imageSize(texture).width : undefined };
  }

  test.each([
    ['standard', 512],
    ['detailed', 1024],
  ])('from a prompt, with a %s texture', async (texture_quality, width) => {
    expect(await createModel({ prompt: 'A red ball.' }, { texture_quality })).toEqual({
      pbr: true,
      texture: width,
    });
  });

  test('from an image, without a texture', async () => {
    const image = host.put('horse.png', png(200, 200, [200, 40, 40]));
    expect(await createModel({ image }, { texture: false, pbr: false })).toEqual({
      pbr: false,
      texture: undefined,
    });
  });

  test('from four views', async () => {
    const hostView = (name: string) => ({ type: 'png', file_token: host.put(name, png(100, 100)) });
    const images = [hostView('front.png'), {}, hostView('back.png'), {}];
    expect(await createModel({ images }, { pbr: false })).toMatchObject({ pbr: false });
  });
});
