import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { resolveReferences } from '../../server/calls/assets/references.ts';
import type { Caller } from '../../server/keys/caller.ts';
import type { Failure } from '../../server/lib/failure.ts';
import type { NewAsset } from '../../server/store/commands/assets.ts';
import type { AssetType } from '../../server/store/schema.ts';
import { taskPrice } from '../quota/task-rows.ts';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo } from '../support/upstream.ts';
import { type AssetProvider, activeAsset, startAssetProvider } from './asset-provider.ts';

const overseas = 'zeta-delta-2-0-fast-260128';
const epsilon = 'epsilon-delta-2-0-260128';
const caller: Caller = {
  tokenId: 1,
  userId: 1,
  tokenName: 'own',
  isAdmin: false,
  group: 'default',
  modelLimits: null,
};

describe.each(engines)('references on %s', (engine) => {
  let first: AssetProvider;
  let second: AssetProvider;
  let target: TestGateway;
  let count = 0;

  beforeAll(async () => {
    first = await startAssetProvider('one');
    second = await startAssetProvider('two');
    const official = { protocol: 'official' } as const;
    const all = [
      { id: 'epsilon-delta-2-0-*', upstream: undefined },
      { id: overseas, upstream: undefined },
    ];
    target = await startTestGateway(
      {
        sandbox: false,
        channels: [
          channelTo(first.url, { ...official, name: 'first', models: all }),
          channelTo(second.url, { ...official, name: 'second', models: all }),
          channelTo(second.url, {
            ...official,
            name: 'other',
            models: [{ id: 'epsilon-delta-2-5-*', upstream: undefined }],
          }),
        ],
      },
      engine,
    );
  });
  beforeEach(() => {
    first.seen.length = 0;
  });
  afterAll(async () => {
    await target.close();
    await first.close();
    await second.close();
  });

  /** Stores an asset, by default active on the channel `first`. */
  async function saveAsset(
    change: Partial<NewAsset> = {},
    status: 'Active' | 'Failed' | 'Processing' = 'Active',
  ): Promise<string> {
    const { store, clock } = target.gateway;
    count += 1;
    const id = `asset-20260101000000-${String(count).padStart(5, '0')}`;
    const now = clock();
    await store.run('saveAsset', {
      id,
      userId: 1,
      tokenId: 1,
      channel: 'first',
      upstreamId: `asset-20250101000000-up${count}`,
      model: null,
      assetType: 'Image',
      name: '',
      groupId: 'group-20260101000000-aaaaa',
      now,
      ...change,
    });
    const failed = { status: 'Failed', code: 'InvalidParameter.Size', message: 'Too large' } as const;
    const ready = { status: 'Active', url: 'https://files.example/a', urlExpires: now + 1e9 } as const;
    if (status !== 'Processing')
      await store.run('finishAsset', { id, end: status === 'Active' ? ready : failed, now });
    return id;
  }

  /** Creates a task of the official protocol, by default completed. */
  async function createDraft(
    change: { userId?: number; driver?: string; done?: boolean } = {},
  ): Promise<string> {
    const { userId = 1, driver = 'official', done = true } = change;
    const { store, clock } = target.gateway;
    count += 1;
    const id = `task_${String(count).padStart(32, '0')}`;
    const now = clock();
    // A lease of an unknown gateway would be available to the gateway under test.
    const { id: owner } = await store.read.selectFrom('gateways').select('id').executeTakeFirstOrThrow();
    await store.run('createTask', {
      id,
      requestId: `request-${count}`,
      userId,
      tokenId: 1,
      operation: 'createVideo',
      format: 'videos',
      driver,
      model: epsilon,
      unit: 'seconds',
      channel: 'second',
      facts: '{}',
      serviceTier: null,
      expectedUnits: 1,
      ...taskPrice,
      amount: 1,
      callbackUrl: null,
      idempotencyKey: null,
      fingerprint: null,
      askedAt: now,
      deadlineAt: now + 1e9,
      pollInterval: 1e9,
      leaseOwner: owner,
      leaseUntil: now + 1e9,
      now,
    });
    const at = { id, attempt: 1, now, dueNow: now };
    await store.run('acceptTask', {
      ...at,
      upstreamId: `cgt-${count}`,
      state: 'queued',
      progress: 0,
      result: null,
      nextPollAt: now + 1e9,
    });
    if (done) {
      const charge = { quota: 1, units: 1, inputTokens: 0, outputTokens: 0 };
      await store.run('finishTask', {
        ...at,
        attempt: null,
        result: '{}',
        error: null,
        charge,
        expiresAt: now + 1e9,
      });
    }
    return id;
  }

  const resolve = async (body: Readonly<Record<string, unknown>>, model = epsilon) => {
    const { channels } = target.gateway;
    const serving = channels.serving('official', model, 'default');
    const routed = await resolveReferences({ gateway: target.gateway, caller }, model, {
      body,
      channels: serving,
      publicIds: {},
      fields: [],
    });
    return { body: routed.body, channels: routed.channels.map(({ name }) => name) };
  };
  const errorOf = (body: Readonly<Record<string, unknown>>, model = epsilon) =>
    resolve(body, model).then(
      () => expect.fail('the body was accepted'),
      ({ status, code, message }: Failure) => ({ status, code, message }),
    );
  const image = (id: string, type = 'image_url') => ({ type, [type]: { url: `asset://${id}` } });
  const draftOf = (id: string) => ({ content: [{ type: 'draft_task', draft_task: { id } }] });

  test('ids are replaced by the provider’s in every field, and select its channel', async () => {
    const types: AssetType[] = ['Image', 'Video', 'Audio'];
    const [imageId, videoId, audioId] = await Promise.all(types.map((assetType) => saveAsset({ assetType })));
    const storedIds = await Promise.all(
      [imageId, videoId, audioId].map(async (id) => {
        const { read } = target.gateway.store;
        const query = read
          .selectFrom('assets')
          .select('upstream_id')
          .where('id', '=', id ?? '');
        return (await query.executeTakeFirstOrThrow()).upstream_id;
      }),
    );
    const rest = { duration: 0, watermark: false, tools: [{ type: 'web_search' }], seed: null };
    const prompt = { type: 'text', text: `asset://${imageId} is only text here` };
    const unrelated = {
      type: 'image_url',
      image_url: { url: 'https://files.example/asset://x' },
      role: 'reference_image',
    };
    expect(
      await resolve({
        ...rest,
        content: [
          prompt,
          unrelated,
          { ...image(imageId ?? ''), role: 'reference_image' },
          { type: 'video_url', video_url: { url: ` ASSET://${videoId} ` } },
          { type: 'audio_url', audio_url: `asset://${audioId}` },
        ],
        extra: { cover: [`asset://${audioId}`] },
      }),
    ).toEqual({
      body: {
        ...rest,
        content: [
          prompt,
          unrelated,
          { type: 'image_url', image_url: { url: `asset://${storedIds[0]}` }, role: 'reference_image' },
          { type: 'video_url', video_url: { url: `asset://${storedIds[1]}` } },
          { type: 'audio_url', audio_url: `asset://${storedIds[2]}` },
        ],
        extra: { cover: [`asset://${storedIds[2]}`] },
      },
      channels: ['first'],
    });
  });

  test('a body without references keeps all channels', async () => {
    const body = { content: [{ type: 'text', text: 'A cat' }] };
    expect(await resolve(body)).toEqual({ body, channels: ['first', 'second'] });
  });

  test('an unknown asset and an asset of another user get the same error', async () => {
    const foreignAsset = await saveAsset({ userId: 2 });
    const expected = (id: string) => ({
      status: 400,
      code: 'invalid_request',
      message: `image_url: there is no asset ${JSON.stringify(id)}.`,
    });
    for (const id of [foreignAsset, foreignAsset.replace('0', '9'), '', 'x/../y']) {
      expect(await errorOf({ content: [image(id)] })).toEqual(expected(id));
    }
  });

  test('the provider’s own id is not accepted', async () => {
    const upstreamId = 'asset-20250101000000-known';
    await saveAsset({ userId: 2, upstreamId });
    expect(await errorOf({ content: [image(upstreamId)] })).toMatchObject({ status: 400 });
    expect(await errorOf({ cover_image: `asset://${upstreamId}` })).toMatchObject({ status: 400 });
  });

  test('an asset must be active, and one in processing is polled once', async () => {
    const upstreamId = `asset-20250101000000-${engine}`;
    const id = await saveAsset({ upstreamId }, 'Processing');
    first.assets.set(upstreamId, { Status: 'Processing' });
    expect(await errorOf({ content: [image(id)] })).toMatchObject({
      status: 400,
      message: `image_url: asset "${id}" is Processing. It can be used when it is Active.`,
    });
    expect(first.assetQueries()).toHaveLength(1);
    first.assets.set(upstreamId, activeAsset);
    expect(await resolve({ content: [image(id), image(id)] })).toMatchObject({
      body: { content: [image(upstreamId), image(upstreamId)] },
    });
    expect(first.assetQueries()).toHaveLength(2);
    const failed = await saveAsset({}, 'Failed');
    expect((await errorOf({ content: [image(failed)] })).message).toBe(
      `image_url: asset "${failed}" is Failed: InvalidParameter.Size: Too large`,
    );
  });

  test.each<[AssetType, string, string]>([
    ['Image', 'video_url', 'Video'],
    ['Video', 'audio_url', 'Audio'],
    ['Audio', 'image_url', 'Image'],
  ])('an asset of type %s is refused as %s', async (assetType, field, takes) => {
    const id = await saveAsset({ assetType });
    expect(await errorOf({ content: [image(id, field)] })).toEqual({
      status: 400,
      code: 'invalid_request',
      message: `${field}: asset "${id}" is of type ${assetType}, but the field accepts ${takes}.`,
    });
  });

  test('assets of two channels cannot be used together', async () => {
    const firstAsset = await saveAsset();
    const secondAsset = await saveAsset({ channel: 'second' });
    const { status, message } = await errorOf({ content: [image(firstAsset), image(secondAsset)] });
    expect([status, message]).toEqual([400, expect.stringContaining(`"${firstAsset}" and "${secondAsset}"`)]);
    expect(await resolve({ content: [image(secondAsset)] })).toMatchObject({ channels: ['second'] });
  });

  test('an asset can be used only in the region of its model', async () => {
    const firstAsset = await saveAsset();
    const secondAsset = await saveAsset({ model: overseas });
    expect(await resolve({ content: [image(secondAsset)] }, overseas)).toMatchObject({ channels: ['first'] });
    expect((await errorOf({ content: [image(secondAsset)] })).message).toContain(
      `was uploaded for ${overseas}`,
    );
    expect((await errorOf({ content: [image(firstAsset)] }, overseas)).message).toContain(
      `Upload it with the query model=${overseas}`,
    );
  });

  test('the channel of an asset must exist and serve the model', async () => {
    const unrelated = await saveAsset({ channel: 'other' });
    expect(await errorOf({ content: [image(unrelated)] })).toMatchObject({
      status: 400,
      message: `image_url: "${unrelated}" is stored by a provider that does not serve ${epsilon} to this key.`,
    });
    const removed = await saveAsset({ channel: 'gone' });
    expect(await errorOf({ content: [image(removed)] })).toMatchObject({
      status: 503,
      code: 'get_channel_failed',
    });
  });

  test('a draft must be a completed Seedance task of the caller', async () => {
    const id = await createDraft();
    const { body, channels } = await resolve(draftOf(id));
    expect(JSON.stringify(body)).toMatch(/"draft_task":\{"id":"cgt-\d+"\}/);
    expect(channels).toEqual(['second']);
    const running = await createDraft({ done: false });
    expect(await errorOf(draftOf(running))).toMatchObject({
      status: 400,
      message: `draft_task.id: task "${running}" is queued. A draft can be used when it is completed.`,
    });
    const foreign = [await createDraft({ userId: 2 }), await createDraft({ driver: 'eta' }), 'cgt-1', ''];
    for (const one of foreign) {
      expect(await errorOf(draftOf(one))).toMatchObject({
        status: 400,
        message: `draft_task.id: there is no Seedance task ${JSON.stringify(one)}.`,
      });
    }
    const mixed = { content: [...draftOf(id).content, image(await saveAsset())] };
    expect((await errorOf(mixed)).message).toContain('different providers');
  });

  test('a body may refer to at most 100 assets', async () => {
    const content = Array.from({ length: 101 }, (_, index) => image(`asset-1-${index}`));
    expect(await errorOf({ content })).toMatchObject({
      status: 400,
      message: expect.stringContaining('100'),
    });
    const same = await saveAsset();
    expect(await resolve({ content: content.map(() => image(same)) })).toMatchObject({ channels: ['first'] });
  });

  test('fields named like object properties are ordinary fields', async () => {
    const id = await saveAsset();
    const body = JSON.parse(`{"constructor": {"url": "asset://${id}"}, "__proto__": {"x": 1}}`);
    const { body: resolved } = await resolve(body);
    expect(JSON.stringify(resolved)).toMatch(
      /^\{"constructor":\{"url":"asset:\/\/[^"]+"\},"__proto__":\{"x":1\}\}$/,
    );
  });
});
