import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findTaskById } from '../../server/store/queries/tasks.ts';
import { ledgerRows } from '../server/ledger.ts';
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

const official = '/api/v3/contents/generations/tasks';
const model = 'epsilon-delta-2-0-260128';

describe('an uploaded asset', () => {
  let first: AssetProvider;
  let second: AssetProvider;
  let target: TestGateway;
  let client: AssetClient;
  /** The provider that stores the assets, and the other one. */
  let assetProvider: AssetProvider;
  let other: AssetProvider;
  let image: string;
  let video: string;
  let upstreamIds: string[];

  beforeAll(async () => {
    first = await startAssetProvider('one');
    second = await startAssetProvider('two');
    target = await startTestGateway({
      sandbox: false,
      channels: [
        channelTo(first.url, { name: 'first', protocol: 'official' }),
        channelTo(second.url, { name: 'second', protocol: 'official' }),
      ],
    });
    client = new AssetClient(target.url, target.key);
    image = await client.upload();
    assetProvider = first.uploads().length > 0 ? first : second;
    other = assetProvider === first ? second : first;
    assetProvider.setLatestAsset(activeAsset);
    video = await client.upload({ asset_type: 'Video' });
    assetProvider.setLatestAsset({ ...activeAsset, URL: 'https://files.example/walk.mp4' });
    upstreamIds = [...assetProvider.assets.keys()];
  });
  beforeEach(() => {
    for (const provider of [first, second]) {
      provider.seen.length = 0;
      provider.override = undefined;
    }
  });
  afterAll(async () => {
    await target.close();
    await first.close();
    await second.close();
  });

  const officialRequest = (...ids: string[]) => ({
    model,
    content: [
      { type: 'text', text: 'A walk' },
      ...ids.map((id) => ({
        type: 'image_url',
        image_url: { url: `asset://${id}` },
        role: 'reference_image',
      })),
    ],
    duration: 4,
  });

  test('is sent to its provider by the official route, always with the provider’s id', async () => {
    for (let round = 0; round < 8; round += 1) {
      expect((await client.call('POST', official, officialRequest(image))).status).toBe(200);
    }
    expect([assetProvider.taskRequests().length, other.taskRequests().length]).toEqual([8, 0]);
    expect(assetProvider.taskRequests()[0]?.body).toMatchObject({
      content: [{ text: 'A walk' }, { image_url: { url: `asset://${upstreamIds[0]}` } }],
      duration: 4,
    });
  });

  test.each(['/v1/videos', '/v1/video/generations'])(
    'is accepted by %s in every media field',
    async (route) => {
      const references = {
        image: `asset://${image}`,
        images: [`asset://${image}`],
        reference_images: [{ url: `asset://${image}` }],
        metadata: { video_url: `asset://${video}` },
      };
      const body = { model, prompt: 'A walk', seconds: '4', ...references };
      const { status, body: task } = await client.call('POST', route, body);
      expect(status, JSON.stringify(task)).toBe(200);
      const [imageUrl, videoUrl] = upstreamIds.map((id) => ({ url: `asset://${id}` }));
      expect(assetProvider.taskRequests()).toMatchObject([
        {
          body: {
            content: [
              { text: 'A walk' },
              { image_url: imageUrl },
              { image_url: imageUrl },
              { image_url: imageUrl },
              { video_url: videoUrl },
            ],
          },
        },
      ]);
      expect(JSON.stringify(task)).not.toContain('asset-20250101000000');
    },
  );

  test('does not exist for another user, without a provider request or a reservation', async () => {
    const otherUser = new AssetClient(target.url, await createOtherUserKey(target));
    const before = (await ledgerRows(target)).length;
    expect(await otherUser.call('POST', official, officialRequest(image))).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', message: `content.1: there is no asset "${image}".` } },
    });
    const providerRequests = [first, second].flatMap((provider) => [
      ...provider.changes(),
      ...provider.assetQueries(),
    ]);
    expect([...providerRequests, ...(await ledgerRows(target)).slice(before)]).toEqual([]);
  });

  test.each([
    ['image', { image: 'asset://asset-1' }],
    ['images.1', { images: ['https://files.example/a.png', 'asset://asset-1'] }],
    ['reference_images.0', { reference_images: [{ url: 'asset://asset-1' }] }],
    ['metadata.video_url', { metadata: { video_url: 'asset://asset-1' } }],
  ])('that does not exist is reported with the field %s of a generic request', async (field, media) => {
    const request = { model: 'epsilon-delta-2-0-260128', prompt: 'A cat.', ...media };
    expect(await client.call('POST', '/v1/videos', request)).toMatchObject({
      status: 400,
      body: { error: { message: `${field}: there is no asset "asset-1".` } },
    });
  });

  test('has its public id in the message of a rejection', async () => {
    assetProvider.override = (_request, response) =>
      sendJson(response, 400, {
        error: { code: 'InvalidParameter', message: `content: asset://${upstreamIds[0]} is no active asset` },
      });
    expect(await client.call('POST', official, officialRequest(image))).toMatchObject({
      status: 400,
      body: {
        error: { code: 'InvalidParameter', message: `content: asset://${image} is no active asset` },
      },
    });
  });

  test('has its public id in the error of a failed task', async () => {
    const { body } = await client.call('POST', official, officialRequest(image, image));
    const { id } = body as unknown as { id: string };
    const message = `asset://${upstreamIds[0]} of cgt-${upstreamIds[0]} is gone`;
    assetProvider.override = (_request, response) =>
      sendJson(response, 200, { status: 'failed', error: { code: 'InvalidParameter', message } });
    const state = async () => {
      await target.gateway.tasks.runDue();
      return (await client.call('GET', `${official}/${id}`)).body;
    };
    await expect.poll(state, { timeout: 10_000 }).toMatchObject({
      status: 'failed',
      error: { code: 'InvalidParameter', message: `asset://${image} of cgt-${image} is gone` },
    });
  });

  test.each([official, '/v1/videos', '/v1/video/generations'])(
    'has its public id, like a draft created by %s',
    async (route) => {
      const generic = { model, prompt: 'A walk', seconds: '4', metadata: { draft: true } };
      const request = route === official ? { ...officialRequest(), draft: true } : generic;
      const created = (await client.call('POST', route, request)).body as unknown as { id: string };
      const [provider] = [first, second].filter((one) => one.taskRequests().length > 0);
      if (provider === undefined) throw new Error('no provider received a task');
      const draft = await findTaskById(target.gateway.store.read, created.id);
      const createFromDraft = () =>
        client.call('POST', official, {
          model,
          content: [{ type: 'draft_task', draft_task: { id: created.id } }],
        });
      expect(await createFromDraft()).toMatchObject({
        status: 400,
        body: { error: { message: expect.stringMatching(`^content.0: task "${created.id}" is `) } },
      });
      provider.override = (request, response) => {
        const finished = {
          status: 'succeeded',
          content: { video_url: 'https://files.example/a.mp4' },
          duration: 4,
        };
        sendJson(response, 200, request.method === 'GET' ? finished : { id: 'cgt-full' });
      };
      const state = async () => {
        await target.gateway.tasks.runDue();
        return (await createFromDraft()).status;
      };
      await expect.poll(state, { timeout: 10_000 }).toBe(200);
      expect(draft?.upstreamId).toMatch(/^cgt-/);
      expect(provider.taskRequests().at(-1)?.body).toMatchObject({
        content: [{ type: 'draft_task', draft_task: { id: draft?.upstreamId } }],
      });
    },
  );

  test('is refused in native media, which are forwarded unchanged', async () => {
    const media = [{ type: 'reference_image', url: `asset://${image}` }];
    const body = { model: 'gamma3.0-video', prompt: 'A walk', metadata: { 'input.media': media } };
    expect(await client.call('POST', '/v1/videos', body)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(/^metadata\.input\.media\.0\.url/) } },
    });
  });
});
