import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { imageFiles, mp3, png, video } from '../sandbox-media/media-files.ts';
import { useFileHost } from '../sandbox-media/task-client.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { AssetClient } from './asset-provider.ts';

const official = '/api/v3/contents/generations/tasks';
const overseas = 'zeta-delta-2-0-fast-260128';
const pollOptions = { timeout: 15_000, interval: 100 };
const host = useFileHost();

describe('the sandbox with private URLs allowed', () => {
  let target: TestGateway;
  let client: AssetClient;

  beforeAll(async () => {
    target = await startTestGateway({ callbacks: { allowPrivate: true, secret: undefined } });
    client = new AssetClient(target.url, target.key);
  });
  afterAll(() => target.close());

  const waitUntilProcessed = async (id: string, query = '') => {
    await expect.poll(async () => (await client.get(id, query)).Status, pollOptions).not.toBe('Processing');
    return client.get(id, query);
  };

  test.concurrent('stores media that a video task can refer to', async () => {
    const bytes = png(400, 300);
    const [image, clip, song] = await Promise.all([
      client.upload({ url: host.put('cat.png', bytes), name: 'cat' }),
      client.upload({ url: host.put('walk.mp4', await video()), asset_type: 'video' }),
      client.upload({ url: host.put('song.mp3', await mp3(3)), asset_type: 'AUDIO' }),
    ]);
    const assets = await Promise.all([image, clip, song].map((id) => waitUntilProcessed(id)));
    expect(assets).toMatchObject([
      { AssetType: 'Image', Status: 'Active', Name: 'cat' },
      { AssetType: 'Video', Status: 'Active' },
      { AssetType: 'Audio', Status: 'Active' },
    ]);
    const file = await fetch(assets[0]?.URL ?? '');
    expect(Buffer.compare(Buffer.from(await file.arrayBuffer()), bytes)).toBe(0);
    const { status, body } = await client.call('POST', official, {
      model: 'epsilon-delta-2-0-fast-260128',
      content: [
        { type: 'text', text: 'A walk' },
        { type: 'image_url', image_url: { url: `asset://${image}` }, role: 'reference_image' },
        { type: 'video_url', video_url: { url: `asset://${clip}` }, role: 'reference_video' },
        { type: 'audio_url', audio_url: { url: `asset://${song}` }, role: 'reference_audio' },
      ],
      resolution: '480p',
      duration: 4,
    });
    expect(status, JSON.stringify(body)).toBe(200);
    const { id } = body as unknown as { id: string };
    const state = async () => (await client.call('GET', `${official}/${id}`)).body;
    // `expect.poll` does not support concurrent tests.
    const completed = { status: 'succeeded', content: { video_url: expect.stringMatching(/^http/) } };
    await vi.waitFor(async () => expect(await state()).toMatchObject(completed), {
      timeout: 30_000,
      interval: 200,
    });
  }, 60_000);

  test.concurrent('stores assets of the overseas model separately', async () => {
    const query = `?model=${overseas}`;
    const id = await client.upload({ url: host.put('far.png', png(300, 300)) }, query);
    expect(await waitUntilProcessed(id, query)).toMatchObject({ Status: 'Active' });
    const createTask = (model: string) =>
      client.call('POST', official, {
        model,
        content: [{ type: 'image_url', image_url: { url: `asset://${id}` }, role: 'first_frame' }],
        duration: 4,
      });
    expect((await createTask(overseas)).status).toBe(200);
    expect((await createTask('epsilon-delta-2-0-fast-260128')).status).toBe(400);
  });

  test.concurrent.each<[string, string, () => Uint8Array | Promise<Uint8Array>, string]>([
    ['an image that is too small', 'Image', () => png(299, 400), 'InvalidParameter.SideLength'],
    ['an image that is too long', 'Image', () => imageFiles.webp(1004, 400), 'InvalidParameter.AspectRatio'],
    ['a video of 1080p', 'Video', () => video({ width: 1920, height: 1080 }), 'InvalidParameter.Resolution'],
    ['audio that is too short', 'Audio', () => mp3(1.5), 'InvalidParameter.Duration'],
    ['a text file', 'Image', () => Buffer.from('This is not an image'), 'InvalidParameter.Format'],
  ])('reports the reason for %s', async (name, asset_type, createFile, code) => {
    const url = host.put(name.replaceAll(' ', '-'), await createFile());
    const failed = await waitUntilProcessed(await client.upload({ url, asset_type }));
    expect(failed).toMatchObject({
      Status: 'Failed',
      Error: { Code: code, Message: expect.stringMatching(/./) },
    });
    expect(failed).not.toHaveProperty('URL');
    const request = {
      model: 'epsilon-delta-2-0-260128',
      content: [{ type: 'image_url', image_url: { url: `asset://${failed.Id}` } }],
      duration: 4,
    };
    if (asset_type !== 'Image') return;
    expect(await client.call('POST', official, request)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining(`is Failed: ${code}`) } },
    });
  });

  test.concurrent.each([
    ['[[fail-late]]', 'FaceMismatch'],
    ['[[sensitive]]', 'InputImageSensitiveContentDetected'],
  ])('fails an asset with the trigger %s', async (name, Code) => {
    const id = await client.upload({ url: host.put('ok.png', png(300, 300)), name });
    expect(await waitUntilProcessed(id)).toMatchObject({ Status: 'Failed', Error: { Code } });
  });

  test.concurrent.each([
    ['[[reject]]', 400],
    ['[[unauthorized]]', 502],
    ['[[throttle]]', 429],
    ['[[error]]', 502],
    ['[[unavailable]]', 503],
    ['[[malformed]]', 502],
    ['[[drop]]', 502],
  ])('rejects an upload with the trigger %s', async (name, status) => {
    const request = { url: 'https://files.example/a.png', asset_type: 'Image', name };
    const response = await client.call('POST', '/api/assets/upload', request);
    expect([response.status, response.body.error?.code]).toEqual([status, expect.any(String)]);
  });
});

test('an asset with a private URL fails if private URLs are not allowed', async () => {
  const target = await startTestGateway();
  const client = new AssetClient(target.url, target.key);
  const id = await client.upload({ url: host.put('private.png', png(300, 300)) });
  await expect
    .poll(() => client.get(id), pollOptions)
    .toMatchObject({
      Status: 'Failed',
      Error: { Code: 'InvalidURL', Message: expect.any(String) },
    });
  await target.close();
});
