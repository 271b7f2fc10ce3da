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
  let made = 0;

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

  /** Puts an asset into the store; it is active on `first` unless told otherwise. */
  async function keep(
    change: Partial<NewAsset> = {},
    status: 'Active' | 'Failed' | 'Processing' = 'Active',
  ): Promise<string> {
    const { store, clock } = target.gateway;
    made += 1;
    const id = `asset-20260101000000-${String(made).padStart(5, '0')}`;
    const now = clock();
    await store.run('saveAsset', {
      id,
      userId: 1,
      tokenId: 1,
      channel: 'first',
      upstreamId: `asset-20250101000000-up${made}`,
      model: null,
      assetType: 'Image',
      name: '',
      groupId: 'group-20260101000000-aaaaa',
      now,
      ...change,
    });
    const failed = { status: 'Failed', code: 'InvalidParameter.Size', message: 'Too large' } as const;
    const usable = { status: 'Active', url: 'https://files.example/a', urlExpires: now + 1e9 } as const;
    if (status !== 'Processing')
      await store.run('finishAsset', { id, end: status === 'Active' ? usable : failed, now });
    return id;
  }

  /** Makes a task of the official protocol that is finished unless told otherwise. */
  async function draft(change: { userId?: number; driver?: string; done?: boolean } = {}): Promise<string> {
    const { userId = 1, driver = 'official', done = true } = change;
    const { store, clock } = target.gateway;
    made += 1;
    const id = `task_${String(made).padStart(32, '0')}`;
    const now = clock();
    // The lease of somebody who is no gateway would be free for the one under test.
    const { id: owner } = await store.read.selectFrom('gateways').select('id').executeTakeFirstOrThrow();
    await store.run('createTask', {
      id,
      requestId: `request-${made}`,
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
      upstreamId: `cgt-${made}`,
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
  const refusal = (body: Readonly<Record<string, unknown>>, model = epsilon) =>
    resolve(body, model).then(
      () => expect.fail('it was taken'),
      ({ status, code, message }: Failure) => ({ status, code, message }),
    );
  const image = (id: string, type = 'image_url') => ({ type, [type]: { url: `asset://${id}` } });
  const draftOf = (id: string) => ({ content: [{ type: 'draft_task', draft_task: { id } }] });

  test('ids become the provider’s wherever they stand, and the channel theirs', async () => {
    const types: AssetType[] = ['Image', 'Video', 'Audio'];
    const [cat, walk, song] = await Promise.all(types.map((assetType) => keep({ assetType })));
    const up = await Promise.all(
      [cat, walk, song].map(async (id) => {
        const { read } = target.gateway.store;
        const query = read
          .selectFrom('assets')
          .select('upstream_id')
          .where('id', '=', id ?? '');
        return (await query.executeTakeFirstOrThrow()).upstream_id;
      }),
    );
    const rest = { duration: 0, watermark: false, tools: [{ type: 'web_search' }], seed: null };
    const prompt = { type: 'text', text: `asset://${cat} is only text here` };
    const elsewhere = {
      type: 'image_url',
      image_url: { url: 'https://files.example/asset://x' },
      role: 'reference_image',
    };
    expect(
      await resolve({
        ...rest,
        content: [
          prompt,
          elsewhere,
          { ...image(cat ?? ''), role: 'reference_image' },
          { type: 'video_url', video_url: { url: ` ASSET://${walk} ` } },
          { type: 'audio_url', audio_url: `asset://${song}` },
        ],
        extra: { cover: [`asset://${song}`] },
      }),
    ).toEqual({
      body: {
        ...rest,
        content: [
          prompt,
          elsewhere,
          { type: 'image_url', image_url: { url: `asset://${up[0]}` }, role: 'reference_image' },
          { type: 'video_url', video_url: { url: `asset://${up[1]}` } },
          { type: 'audio_url', audio_url: `asset://${up[2]}` },
        ],
        extra: { cover: [`asset://${up[2]}`] },
      },
      channels: ['first'],
    });
  });

  test('a body without references keeps its channels', async () => {
    const body = { content: [{ type: 'text', text: 'A cat' }] };
    expect(await resolve(body)).toEqual({ body, channels: ['first', 'second'] });
  });

  test('an unknown asset and another user’s are told alike', async () => {
    const theirs = await keep({ userId: 2 });
    const told = (id: string) => ({
      status: 400,
      code: 'invalid_request',
      message: `image_url: there is no asset ${JSON.stringify(id)}.`,
    });
    for (const id of [theirs, theirs.replace('0', '9'), '', 'x/../y']) {
      expect(await refusal({ content: [image(id)] })).toEqual(told(id));
    }
  });

  test('the provider’s own id is of no use to anybody', async () => {
    const upstreamId = 'asset-20250101000000-known';
    await keep({ userId: 2, upstreamId });
    expect(await refusal({ content: [image(upstreamId)] })).toMatchObject({ status: 400 });
    expect(await refusal({ cover_image: `asset://${upstreamId}` })).toMatchObject({ status: 400 });
  });

  test('an asset must be active, and one in processing is asked about once', async () => {
    const upstreamId = `asset-20250101000000-${engine}`;
    const id = await keep({ upstreamId }, 'Processing');
    first.assets.set(upstreamId, { Status: 'Processing' });
    expect(await refusal({ content: [image(id)] })).toMatchObject({
      status: 400,
      message: `image_url: asset "${id}" is Processing. It can be used when it is Active.`,
    });
    expect(first.assetQueries()).toHaveLength(1);
    first.assets.set(upstreamId, activeAsset);
    expect(await resolve({ content: [image(id), image(id)] })).toMatchObject({
      body: { content: [image(upstreamId), image(upstreamId)] },
    });
    expect(first.assetQueries()).toHaveLength(2);
    const failed = await keep({}, 'Failed');
    expect((await refusal({ content: [image(failed)] })).message).toBe(
      `image_url: asset "${failed}" is Failed: InvalidParameter.Size: Too large`,
    );
  });

  test.each<[AssetType, string, string]>([
    ['Image', 'video_url', 'Video'],
    ['Video', 'audio_url', 'Audio'],
    ['Audio', 'image_url', 'Image'],
  ])('an asset of type %s is not taken as %s', async (assetType, field, takes) => {
    const id = await keep({ assetType });
    expect(await refusal({ content: [image(id, field)] })).toEqual({
      status: 400,
      code: 'invalid_request',
      message: `${field}: asset "${id}" is of type ${assetType}, but the field accepts ${takes}.`,
    });
  });

  test('assets of two channels cannot be used together', async () => {
    const near = await keep();
    const far = await keep({ channel: 'second' });
    const { status, message } = await refusal({ content: [image(near), image(far)] });
    expect([status, message]).toEqual([400, expect.stringContaining(`"${near}" and "${far}"`)]);
    expect(await resolve({ content: [image(far)] })).toMatchObject({ channels: ['second'] });
  });

  test('an asset stays in its region', async () => {
    const near = await keep();
    const far = await keep({ model: overseas });
    expect(await resolve({ content: [image(far)] }, overseas)).toMatchObject({ channels: ['first'] });
    expect((await refusal({ content: [image(far)] })).message).toContain(`was uploaded for ${overseas}`);
    expect((await refusal({ content: [image(near)] }, overseas)).message).toContain(
      `Upload it with the query model=${overseas}`,
    );
  });

  test('the channel of an asset must serve the model, and must be there', async () => {
    const elsewhere = await keep({ channel: 'other' });
    expect(await refusal({ content: [image(elsewhere)] })).toMatchObject({
      status: 400,
      message: `image_url: "${elsewhere}" is stored by a provider that does not serve ${epsilon} to this key.`,
    });
    const gone = await keep({ channel: 'gone' });
    expect(await refusal({ content: [image(gone)] })).toMatchObject({
      status: 503,
      code: 'get_channel_failed',
    });
  });

  test('a draft is the caller’s own finished Seedance task', async () => {
    const id = await draft();
    const { body, channels } = await resolve(draftOf(id));
    expect(JSON.stringify(body)).toMatch(/"draft_task":\{"id":"cgt-\d+"\}/);
    expect(channels).toEqual(['second']);
    const running = await draft({ done: false });
    expect(await refusal(draftOf(running))).toMatchObject({
      status: 400,
      message: `draft_task.id: task "${running}" is queued. A draft can be used when it is completed.`,
    });
    const foreign = [await draft({ userId: 2 }), await draft({ driver: 'eta' }), 'cgt-1', ''];
    for (const one of foreign) {
      expect(await refusal(draftOf(one))).toMatchObject({
        status: 400,
        message: `draft_task.id: there is no Seedance task ${JSON.stringify(one)}.`,
      });
    }
    const apart = { content: [...draftOf(id).content, image(await keep())] };
    expect((await refusal(apart)).message).toContain('different providers');
  });

  test('there is a limit to how much a body may refer to', async () => {
    const content = Array.from({ length: 101 }, (_, index) => image(`asset-1-${index}`));
    expect(await refusal({ content })).toMatchObject({
      status: 400,
      message: expect.stringContaining('100'),
    });
    const same = await keep();
    expect(await resolve({ content: content.map(() => image(same)) })).toMatchObject({ channels: ['first'] });
  });

  test('names of the language’s own objects are names like any other', async () => {
    const id = await keep();
    const body = JSON.parse(`{"constructor": {"url": "asset://${id}"}, "__proto__": {"x": 1}}`);
    const { body: resolved } = await resolve(body);
    expect(JSON.stringify(resolved)).toMatch(
      /^\{"constructor":\{"url":"asset:\/\/[^"]+"\},"__proto__":\{"x":1\}\}$/,
    );
  });
});
