import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { mp3, pictures, png, video } from '../sandbox-media/media-files.ts';
import { useFileHost } from '../sandbox-media/task-client.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { AssetClient } from './asset-provider.ts';

const official = '/api/v3/contents/generations/tasks';
const overseas = 'zeta-delta-2-0-fast-260128';
const patient = { timeout: 15_000, interval: 100 };
const host = useFileHost();

describe('with files of its own network allowed, the sandbox', () => {
  let target: TestGateway;
  let client: AssetClient;

  beforeAll(async () => {
    target = await startTestGateway({ callbacks: { allowPrivate: true, secret: undefined } });
    client = new AssetClient(target.url, target.key);
  });
  afterAll(() => target.close());

  const settled = async (id: string, query = '') => {
    await expect.poll(async () => (await client.get(id, query)).Status, patient).not.toBe('Processing');
    return client.get(id, query);
  };

  test.concurrent('keeps media that a video is then made from', async () => {
    const bytes = png(400, 300);
    const [image, clip, sound] = await Promise.all([
      client.upload({ url: host.put('cat.png', bytes), name: 'cat' }),
      client.upload({ url: host.put('walk.mp4', await video()), asset_type: 'video' }),
      client.upload({ url: host.put('song.mp3', await mp3(3)), asset_type: 'AUDIO' }),
    ]);
    const assets = await Promise.all([image, clip, sound].map((id) => settled(id)));
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
        { type: 'audio_url', audio_url: { url: `asset://${sound}` }, role: 'reference_audio' },
      ],
      resolution: '480p',
      duration: 4,
    });
    expect(status, JSON.stringify(body)).toBe(200);
    const { id } = body as unknown as { id: string };
    const state = async () => (await client.call('GET', `${official}/${id}`)).body;
    // `expect.poll` knows of one test at a time.
    const made = { status: 'succeeded', content: { video_url: expect.stringMatching(/^http/) } };
    await vi.waitFor(async () => expect(await state()).toMatchObject(made), {
      timeout: 30_000,
      interval: 200,
    });
  }, 60_000);

  test.concurrent('keeps the overseas model’s assets apart', async () => {
    const query = `?model=${overseas}`;
    const id = await client.upload({ url: host.put('far.png', png(300, 300)) }, query);
    expect(await settled(id, query)).toMatchObject({ Status: 'Active' });
    const order = (model: string) =>
      client.call('POST', official, {
        model,
        content: [{ type: 'image_url', image_url: { url: `asset://${id}` }, role: 'first_frame' }],
        duration: 4,
      });
    expect((await order(overseas)).status).toBe(200);
    expect((await order('epsilon-delta-2-0-fast-260128')).status).toBe(400);
  });

  test.concurrent.each<[string, string, () => Uint8Array | Promise<Uint8Array>, string]>([
    ['an image that is too small', 'Image', () => png(299, 400), 'InvalidParameter.SideLength'],
    ['an image that is too long', 'Image', () => pictures.webp(1004, 400), 'InvalidParameter.AspectRatio'],
    ['a video of 1080p', 'Video', () => video({ width: 1920, height: 1080 }), 'InvalidParameter.Resolution'],
    ['audio that is too short', 'Audio', () => mp3(1.5), 'InvalidParameter.Duration'],
    ['a text', 'Image', () => Buffer.from('This is no picture'), 'InvalidParameter.Format'],
  ])('tells what is wrong with %s', async (name, asset_type, make, code) => {
    const url = host.put(name.replaceAll(' ', '-'), await make());
    const failed = await settled(await client.upload({ url, asset_type }));
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
  ])('fails on purpose for %s', async (name, Code) => {
    const id = await client.upload({ url: host.put('ok.png', png(300, 300)), name });
    expect(await settled(id)).toMatchObject({ Status: 'Failed', Error: { Code } });
  });

  test.concurrent.each([
    ['[[reject]]', 400],
    ['[[unauthorized]]', 502],
    ['[[throttle]]', 429],
    ['[[error]]', 502],
    ['[[unavailable]]', 503],
    ['[[malformed]]', 502],
    ['[[drop]]', 502],
  ])('refuses an upload on purpose for %s', async (name, status) => {
    const request = { url: 'https://files.example/a.png', asset_type: 'Image', name };
    const answer = await client.call('POST', '/api/assets/upload', request);
    expect([answer.status, answer.body.error?.code]).toEqual([status, expect.any(String)]);
  });
});

test('without that, an address in a private network gives a failed asset', async () => {
  const target = await startTestGateway();
  const client = new AssetClient(target.url, target.key);
  const id = await client.upload({ url: host.put('private.png', png(300, 300)) });
  await expect
    .poll(() => client.get(id), patient)
    .toMatchObject({
      Status: 'Failed',
      Error: { Code: 'InvalidURL', Message: expect.any(String) },
    });
  await target.close();
});
