import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo } from '../support/upstream.ts';
import {
  AssetClient,
  type AssetProvider,
  activeAsset,
  createOtherUserKey,
  sendJson,
  startAssetProvider,
} from './asset-provider.ts';

const hour = 60 * 60_000;
const cat = 'https://files.vendor.example/cat.png?signature=1';
const walk = 'https://files.vendor.example/walk.mp4?signature=1';

describe('an asset in a request for a gamma or eta video', () => {
  let assets: AssetProvider;
  let videos: AssetProvider;
  let target: TestGateway;
  let client: AssetClient;
  let image: string;
  let video: string;
  let now = Date.parse('2026-11-23T10:00:00Z');

  beforeAll(async () => {
    assets = await startAssetProvider('one');
    videos = await startAssetProvider('two');
    target = await startTestGateway(
      {
        sandbox: false,
        channels: [
          channelTo(assets.url, { name: 'assets', protocol: 'official' }),
          channelTo(videos.url, { name: 'native', protocol: 'native' }),
          channelTo(videos.url, { name: 'eta', protocol: 'eta' }),
        ],
      },
      'sqlite',
      () => now,
    );
    client = new AssetClient(target.url, target.key);
    image = `asset://${await client.upload()}`;
    assets.setLatestAsset({ ...activeAsset, URL: cat });
    video = `asset://${await client.upload({ asset_type: 'Video' })}`;
    assets.setLatestAsset({ ...activeAsset, AssetType: 'Video', URL: walk });
  });
  beforeEach(() => {
    assets.seen.length = 0;
    assets.override = undefined;
    videos.seen.length = 0;
    videos.override = ({ path, method }, response) => {
      const native = path.startsWith('/api/');
      const created = native
        ? { request_id: 'r', output: { task_id: 't', task_status: 'PENDING' } }
        : { request_id: 't' };
      sendJson(response, 200, method === 'GET' && !native ? { status: 'pending' } : created);
    };
  });
  afterAll(async () => {
    await target.close();
    await assets.close();
    await videos.close();
  });

  const gamma = { model: 'gamma3.0-video', prompt: 'A boat.' };
  const eta = { model: 'eta-imagine-video', prompt: 'A boat.' };
  const first = (url: string) => ({ input: { media: [{ type: 'first_frame', url }] } });

  test.each<[string, object, () => object, object]>([
    ['image', gamma, () => ({ image }), first(cat)],
    ['input_reference', gamma, () => ({ input_reference: { image_url: image } }), first(cat)],
    [
      'images',
      gamma,
      () => ({ images: [image, 'https://files.example/b.png'] }),
      { input: { media: [{ url: cat }, { url: 'https://files.example/b.png' }] } },
    ],
    [
      'reference_images and video',
      gamma,
      () => ({ reference_images: [{ url: image }], video: { url: video } }),
      {
        input: {
          media: [
            { type: 'reference_image', url: cat },
            { type: 'reference_video', url: walk },
          ],
        },
      },
    ],
    ['image', eta, () => ({ image }), { image: { url: cat } }],
    ['input_reference', eta, () => ({ input_reference: { image_url: image } }), { image: { url: cat } }],
    ['images', eta, () => ({ images: [image] }), { image: { url: cat } }],
    [
      'reference_images',
      eta,
      () => ({ reference_images: [{ url: image }, { url: image }] }),
      { reference_images: [{ url: cat }, { url: cat }] },
    ],
    ['video', eta, () => ({ video: { url: video } }), { video: { url: walk } }],
  ])('is sent to the provider as a file URL in %s %#', async (_, model, fields, sent) => {
    for (const path of ['/v1/videos', '/v1/video/generations']) {
      videos.seen.length = 0;
      const { status, body } = await client.call('POST', path, { ...model, ...fields() });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(videos.changes().map((request) => request.body)).toMatchObject([sent]);
    }
  });

  test('is accepted in a form', async () => {
    const form = new FormData();
    form.append('model', gamma.model);
    form.append('prompt', gamma.prompt);
    form.append('images[]', image);
    const headers = { authorization: `Bearer ${target.key}` };
    const reply = await fetch(`${target.url}/v1/videos`, { method: 'POST', headers, body: form });
    expect(reply.status).toBe(200);
    expect(videos.changes().map(({ body }) => body)).toMatchObject([first(cat)]);
  });

  test.each<[string, () => object, RegExp]>([
    ['unknown', () => ({ image: 'asset://asset-1-a' }), /^image: there is no asset "asset-1-a"/],
    ['of another type', () => ({ image: video }), /^image: asset .* is of type Video/],
    [
      'an image in a field for a video',
      () => ({ video: { url: image } }),
      /^video\.url: asset .* is of type Image/,
    ],
  ])('is refused if it is %s', async (_, fields, message) => {
    for (const model of [gamma, eta]) {
      const { status, body } = await client.call('POST', '/v1/videos', { ...model, ...fields() });
      expect([status, body.error?.message]).toEqual([400, expect.stringMatching(message)]);
    }
    expect(videos.changes()).toEqual([]);
  });

  test('is refused if it belongs to another user', async () => {
    const otherUser = new AssetClient(target.url, await createOtherUserKey(target));
    const { status, body } = await otherUser.call('POST', '/v1/videos', { ...gamma, image });
    expect([status, body.error?.message]).toEqual([400, expect.stringContaining('there is no asset')]);
  });

  test('is refused until it is active', async () => {
    const pending = `asset://${await client.upload()}`;
    const { status, body } = await client.call('POST', '/v1/videos', { ...gamma, image: pending });
    expect([status, body.error?.message]).toEqual([400, expect.stringContaining('Processing')]);
    assets.setLatestAsset({ Status: 'Failed', Error: { Code: 'TooSmall', Message: 'Too small.' } });
    const failed = await client.call('POST', '/v1/videos', { ...gamma, image: pending });
    expect([failed.status, failed.body.error?.message]).toEqual([400, expect.stringContaining('Failed')]);
  });

  test('has its id in place of its URL in the message of a rejection', async () => {
    videos.override = (_request, response) =>
      sendJson(response, 400, {
        code: 'InvalidURL',
        message: `Cannot load ${cat} from files.vendor.example.`,
        request_id: 'r',
      });
    const { status, body } = await client.call('POST', '/v1/videos', { ...gamma, image });
    expect([status, body.error?.message]).toEqual([400, `Cannot load ${image} from ***.`]);
  });

  test('gets a new URL when the old one is about to expire, and a repeated request stays idempotent', async () => {
    const send = async () => {
      const reply = await fetch(`${target.url}/v1/videos`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${target.key}`,
          'content-type': 'application/json',
          'idempotency-key': 'renewed-link',
        },
        body: JSON.stringify({ ...gamma, image }),
      });
      return { status: reply.status, body: (await reply.json()) as { id?: string } };
    };
    const original = await send();
    now += 11.5 * hour;
    const renewedUrl = cat.replace('signature=1', 'signature=2');
    for (const [id, asset] of assets.assets)
      if (asset.URL === cat) assets.assets.set(id, { ...asset, URL: renewedUrl });
    expect(await send()).toEqual(
      expect.objectContaining({ status: 200, body: expect.objectContaining({ id: original.body.id }) }),
    );
    videos.seen.length = 0;
    expect((await client.call('POST', '/v1/videos', { ...gamma, image })).status).toBe(200);
    expect(videos.changes().map(({ body }) => body)).toMatchObject([first(renewedUrl)]);
    now += 13 * hour;
    assets.override = (_request, response) => sendJson(response, 500, {});
    const expired = await client.call('POST', '/v1/videos', { ...gamma, image });
    expect([expired.status, expired.body.error?.code]).toEqual([503, 'get_channel_failed']);
  });
});
