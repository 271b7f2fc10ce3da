import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { refreshAsset } from '../../server/calls/assets/refresh-asset.ts';
import { findAssets } from '../../server/store/queries/assets.ts';
import { ledgerRows, makeKey } from '../server/ledger.ts';
import { databaseUrl, engines, TestStore } from '../store/engines.ts';
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

const overseas = 'zeta-delta-2-0-fast-260128';
const serving = (...ids: string[]) => ids.map((id) => ({ id, upstream: undefined }));

describe.each(engines)('assets on %s', (engine) => {
  let mainProvider: AssetProvider;
  let overseasProvider: AssetProvider;
  let target: TestGateway;
  let client: AssetClient;
  let otherUser: AssetClient;
  /** Offset of the gateway's clock, in milliseconds. */
  let clockOffsetMs = 0;

  const channels = () => [
    channelTo(mainProvider.url, { name: 'home', protocol: 'official', models: serving('epsilon-*') }),
    channelTo(overseasProvider.url, {
      name: 'abroad',
      protocol: 'official',
      models: [{ id: overseas, upstream: 'zeta-own-name' }],
    }),
    channelTo(mainProvider.url, { name: 'native' }),
  ];
  const row = async (id: string) => {
    const [asset] = await findAssets(target.gateway.store.read, { ids: [id], userId: 1 });
    if (asset === undefined) throw new Error(`there is no row ${id}`);
    return asset;
  };

  beforeAll(async () => {
    mainProvider = await startAssetProvider('home');
    overseasProvider = await startAssetProvider('far');
    const clock = () => Date.now() + clockOffsetMs;
    target = await startTestGateway({ sandbox: false, channels: channels() }, engine, clock);
    client = new AssetClient(target.url, target.key);
    otherUser = new AssetClient(target.url, await createOtherUserKey(target));
  });
  beforeEach(() => {
    for (const provider of [mainProvider, overseasProvider]) {
      provider.seen.length = 0;
      provider.override = undefined;
    }
  });
  afterAll(async () => {
    await target.close();
    await mainProvider.close();
    await overseasProvider.close();
  });

  test('an upload gets an id from the gateway, and becomes active when the provider reports it', async () => {
    const id = await client.upload({ asset_type: 'image', name: 'cat' });
    expect(id).toMatch(/^asset-\d{14}-[a-z0-9]{5}$/);
    expect(mainProvider.uploads()).toMatchObject([
      {
        path: '/api/assets/upload',
        body: { url: 'https://files.example/cat.png', asset_type: 'Image', name: 'cat' },
        headers: { authorization: 'Bearer upstream-key' },
      },
    ]);
    const processing = await client.get(id);
    const second = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
    expect(processing).toEqual({
      Id: id,
      AssetType: 'Image',
      Status: 'Processing',
      Name: 'cat',
      GroupId: expect.stringMatching(/^group-\d{14}-[a-z0-9]{5}$/),
      ProjectName: 'default',
      CreateTime: expect.stringMatching(second),
      UpdateTime: processing.CreateTime,
    });
    mainProvider.setLatestAsset({ ...activeAsset, GroupId: 'group-20250101000000-theirs', Name: 'other' });
    expect(await client.get(id)).toEqual({
      ...processing,
      Status: 'Active',
      URL: activeAsset.URL,
      UpdateTime: expect.stringMatching(second),
    });
  });

  test('the time of change is the provider’s, whatever its clock, and not the time of the poll', async () => {
    const id = await client.upload();
    mainProvider.setLatestAsset({
      ...activeAsset,
      CreateTime: '2020-01-01T08:00:00+08:00',
      UpdateTime: '2020-01-01T00:00:07Z',
    });
    clockOffsetMs = 3_600_000;
    const shown = await client.get(id);
    expect(Date.parse(shown.UpdateTime ?? '') - Date.parse(shown.CreateTime ?? '')).toBe(7_000);
    expect(await client.get(id)).toEqual(shown);
    const other = await client.upload();
    mainProvider.setLatestAsset({
      ...activeAsset,
      CreateTime: 'long ago',
      UpdateTime: '2020-01-01T00:00:07Z',
    });
    clockOffsetMs += 60_000;
    const { CreateTime = '', UpdateTime = '' } = await client.get(other);
    expect(Date.parse(UpdateTime) - Date.parse(CreateTime)).toBeGreaterThanOrEqual(60_000);
    clockOffsetMs = 0;
  });

  test('a final asset is not polled again and keeps its state', async () => {
    const id = await client.upload();
    mainProvider.setLatestAsset(activeAsset);
    await client.get(id);
    mainProvider.seen.length = 0;
    mainProvider.setLatestAsset({ Status: 'Failed', Error: { Code: 'Later', Message: 'later' } });
    expect(await client.get(id)).toMatchObject({ Status: 'Active' });
    expect(mainProvider.seen).toEqual([]);
    const failure = { id, end: { status: 'Failed', code: 'Late', message: 'late' }, now: 1 } as const;
    expect(await target.gateway.store.run('finishAsset', failure)).toBe(false);
  });

  test('an upload whose client disconnects in the middle is stored', async () => {
    const before = await target.gateway.store.read.selectFrom('assets').select('id').execute();
    const controller = new AbortController();
    let release = () => {};
    mainProvider.override = (_request, response) => {
      release = () => sendJson(response, 200, { code: 0, message: 'success', data: { Id: 'asset-1-late' } });
      controller.abort();
    };
    const upload = fetch(`${target.url}/api/assets/upload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${target.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: 'https://files.example/cat.png', asset_type: 'Image' }),
      signal: controller.signal,
    });
    await expect(upload).rejects.toThrow('abort');
    release();
    await vi.waitFor(async () => {
      const rows = await target.gateway.store.read.selectFrom('assets').select('upstream_id').execute();
      expect(rows).toHaveLength(before.length + 1);
      expect(rows.map(({ upstream_id }) => upstream_id)).toContain('asset-1-late');
    });
  });

  test('a failed asset has the provider’s reason', async () => {
    const id = await client.upload();
    mainProvider.setLatestAsset({
      Status: 'Failed',
      Error: { Code: 'FaceMismatch', Message: 'Not\0 the same face' },
    });
    const failed = await client.get(id);
    expect(failed).toMatchObject({
      Status: 'Failed',
      Error: { Code: 'FaceMismatch', Message: 'Not the same face' },
    });
    expect(failed).not.toHaveProperty('URL');
    const withoutReason = await client.upload();
    mainProvider.setLatestAsset({ Status: 'Failed' });
    expect((await client.get(withoutReason)).Error).toEqual({
      Code: 'AssetFailed',
      Message: 'The provider gave no reason.',
    });
  });

  test('only the client’s fields are sent, and a name may be any text', async () => {
    await client.upload();
    expect(mainProvider.uploads()[0]?.body).toEqual({
      url: 'https://files.example/cat.png',
      asset_type: 'Image',
    });
    expect((await client.get(await client.upload({ name: '猫 \u2028 \n"' }))).Name).toBe('猫 \u2028 \n"');
    expect(
      await client.call('POST', '/api/assets/upload', {
        url: 'https://files.example/a.png',
        asset_type: 'Image',
        name: 'a\0b',
      }),
    ).toMatchObject({ status: 400, body: { error: { message: expect.stringMatching(/^name: /) } } });
  });

  test('the overseas model has its own assets, under the provider’s model name', async () => {
    const id = await client.upload({}, `?model=${overseas}`);
    expect([mainProvider.uploads().length, overseasProvider.uploads().map(({ path }) => path)]).toEqual([
      0,
      ['/api/assets/upload?model=zeta-own-name'],
    ]);
    overseasProvider.setLatestAsset(activeAsset);
    expect(await client.get(id, `?model=${overseas}`)).toMatchObject({ Id: id, Status: 'Active' });
    expect(overseasProvider.assetQueries()[0]?.path).toMatch(/\?model=zeta-own-name$/);
    expect(await client.get(id)).toMatchObject({ Status: 'Active' });
  });

  test('any other model is refused without a provider request', async () => {
    const path = '/api/assets/upload?model=epsilon-delta-2-0-260128';
    const body = { url: 'https://files.example/a.png', asset_type: 'Image' };
    expect(await client.call('POST', path, body)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', message: expect.stringContaining(overseas) } },
    });
    expect([...mainProvider.seen, ...overseasProvider.seen]).toEqual([]);
  });

  test('an asset exists for its user only, whose uploads share a group', async () => {
    const ids = await Promise.all([client.upload(), client.upload()]);
    const foreignAsset = await otherUser.upload();
    const groups = await Promise.all(ids.map(async (id) => (await client.get(id)).GroupId));
    expect(groups[0]).toBe(groups[1]);
    expect((await otherUser.get(foreignAsset)).GroupId).not.toBe(groups[0]);
    const unknown = { error: { code: 'resource_not_found' } };
    for (const id of [...ids, 'asset-20260101000000-aaaaa', 'x', '..%2F..']) {
      expect(await otherUser.call('GET', `/api/assets/${id}`)).toMatchObject({ status: 404, body: unknown });
    }
    const [upstreamId] = mainProvider.assets.keys();
    expect(await client.call('GET', `/api/assets/${upstreamId}`)).toMatchObject({
      status: 404,
      body: unknown,
    });
  });

  test('concurrent readers cause one request to the provider', async () => {
    const id = await client.upload();
    const asset = await row(id);
    const release = Promise.withResolvers<void>();
    mainProvider.override = async (_request, response) => {
      await release.promise;
      sendJson(response, 200, { code: 0, data: activeAsset });
    };
    const readers = Array.from({ length: 20 }, () => refreshAsset(target.gateway, asset));
    release.resolve();
    expect((await Promise.all(readers)).map(({ status }) => status)).toEqual(readers.map(() => 'Active'));
    expect(mainProvider.assetQueries()).toHaveLength(1);
  });

  test.each<[string, AssetProvider['override']]>([
    ['fails', (_request, response) => sendJson(response, 500, { error: { code: 'x', message: 'secret' } })],
    ['rejects the key', (_request, response) => sendJson(response, 401, { error: { code: 'x' } })],
    ['is throttling', (_request, response) => sendJson(response, 429, { error: { code: 'x' } })],
    ['closes the connection', (_request, response) => void response.destroy()],
    ['sends invalid JSON', (_request, response) => void response.end('{"data": {"Status')],
    ['sends no data', (_request, response) => sendJson(response, 200, { code: 0 })],
    ['sends no status', (_request, response) => sendJson(response, 200, { code: 0, data: {} })],
    [
      'does not know the asset yet',
      (_request, response) => sendJson(response, 404, { error: { code: 'x' } }),
    ],
    [
      'sends an unknown status',
      (_request, response) => sendJson(response, 200, { code: 0, data: { Status: 'Paused' } }),
    ],
    [
      'sends an invalid URL',
      (_request, response) =>
        sendJson(response, 200, { code: 0, data: { Status: 'Active', URL: 'nowhere' } }),
    ],
  ])('the last known state is returned while the provider %s', async (_title, override) => {
    const id = await client.upload();
    mainProvider.override = override;
    expect(await client.get(id)).toMatchObject({ Status: 'Processing' });
    mainProvider.override = undefined;
    mainProvider.setLatestAsset(activeAsset);
    expect(await client.get(id)).toMatchObject({ Status: 'Active' });
  });

  test('an asset that the provider has lost fails after a minute', async () => {
    const { store, clock } = target.gateway;
    const id = 'asset-20260101000000-lost1';
    await store.run('saveAsset', {
      id,
      userId: 1,
      tokenId: 1,
      channel: 'home',
      upstreamId: 'asset-20250101000000-gone1',
      model: null,
      assetType: 'Image',
      name: '',
      groupId: 'group-20260101000000-aaaaa',
      now: clock() - 61_000,
    });
    expect(await client.get(id)).toMatchObject({
      Status: 'Failed',
      Error: { Code: 'NotFound.Asset', Message: 'There is no such asset' },
    });
  });

  test('the URL is renewed in its last hour, and the old one is returned if that fails', async () => {
    const { store, clock } = target.gateway;
    const id = await client.upload();
    mainProvider.setLatestAsset(activeAsset);
    await client.get(id);
    const { url_expires, updated_at } = await row(id);
    expect((url_expires ?? 0) - updated_at).toBe(12 * 3_600_000);
    const old = 'https://files.example/cat.png?signature=0';
    const expiring = { id, url: old, urlExpires: clock() + 3_590_000 };
    await store.run('renewAssetUrl', expiring);
    mainProvider.override = (_request, response) => sendJson(response, 503, {});
    expect((await client.get(id)).URL).toBe(old);
    mainProvider.override = undefined;
    expect((await client.get(id)).URL).toBe(activeAsset.URL);
    mainProvider.seen.length = 0;
    expect(await client.get(id)).toMatchObject({ URL: activeAsset.URL, Status: 'Active' });
    expect(mainProvider.seen).toEqual([]);
    expect((await row(id)).updated_at).toBe(updated_at);
  });

  test.each<[string, number, object | string, number, object]>([
    [
      'an error about the request',
      400,
      { error: { code: 'InvalidParameter', message: 'url: is bad' } },
      400,
      { code: 'InvalidParameter', message: 'url: is bad' },
    ],
    [
      'a rejection with HTTP 200',
      200,
      { code: 1042, message: 'No more room' },
      400,
      { code: '1042', message: 'No more room' },
    ],
    [
      'a rejected key',
      401,
      { error: { code: 'AuthenticationError', message: 'key sk-secret' } },
      502,
      { code: 'bad_response_status_code' },
    ],
    ['throttling', 429, { error: { code: 'RateLimitExceeded' } }, 429, { code: 'rate_limit_exceeded' }],
    ['a server error', 500, 'Error at upstream.internal', 502, { code: 'bad_response_status_code' }],
    ['invalid JSON', 200, '{', 502, { code: 'bad_response' }],
    ['no id', 200, { code: 0, data: {} }, 502, { code: 'bad_response' }],
  ])('an upload that gets %s creates no asset', async (_title, status, body, expectedStatus, error) => {
    mainProvider.override = (_request, response) => {
      response.statusCode = status;
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    const count = async () =>
      (await target.gateway.store.read.selectFrom('assets').select('id').execute()).length;
    const before = await count();
    const request = { url: 'https://files.example/a.png', asset_type: 'Image' };
    const reply = await client.call('POST', '/api/assets/upload', request);
    expect(reply).toMatchObject({ status: expectedStatus, body: { error } });
    expect(JSON.stringify(reply)).not.toMatch(/secret|internal/);
    expect([mainProvider.uploads().length, (await count()) - before]).toEqual([1, 0]);
  });

  test('uploads are free, so a key without quota may upload', async () => {
    const { key } = await makeKey(target, { quota: 0 });
    await new AssetClient(target.url, key).upload();
    expect(await ledgerRows(target)).toEqual([]);
  });

  test('a key must have access to a model of the region to upload for it', async () => {
    const { key } = await makeKey(target, { quota: 0, modelLimits: ['gamma*', 'epsilon-delta-2-5-*'] });
    const limited = new AssetClient(target.url, key);
    await limited.upload();
    const request = { url: 'https://files.example/a.png', asset_type: 'Image' };
    const overseasKey = await makeKey(target, { quota: 0, modelLimits: [overseas] });
    for (const [uploader, query] of [
      [limited, `?model=${overseas}`],
      [new AssetClient(target.url, overseasKey.key), ''],
    ] as const) {
      expect(await uploader.call('POST', `/api/assets/upload${query}`, request)).toMatchObject({
        status: 403,
        body: { error: { code: 'access_denied', message: expect.stringMatching(/^model: /) } },
      });
    }
    expect([mainProvider.uploads().length, overseasProvider.uploads().length]).toEqual([1, 0]);
  });

  test('an existing id is not reused', async () => {
    const { store, clock } = target.gateway;
    const asset = {
      id: 'asset-20260101000000-twice',
      userId: 1,
      tokenId: 1,
      channel: 'home',
      upstreamId: 'asset-1',
      model: null,
      assetType: 'Image',
      name: 'first',
      groupId: 'group-20260101000000-aaaaa',
      now: clock(),
    } as const;
    expect(await store.run('saveAsset', asset)).toBe(true);
    expect(await store.run('saveAsset', { ...asset, userId: 2, name: 'second' })).toBe(false);
    expect(await row(asset.id)).toMatchObject({ name: 'first', user_id: 1 });
  });

  test('assets survive a restart of the gateway', async () => {
    const testStore = await TestStore.make(engine);
    // Creates the tables, and the schema on PostgreSQL.
    await (await testStore.open()).close();
    const url = new URL(databaseUrl);
    url.searchParams.set('options', `-csearch_path=${testStore.options.schema}`);
    const stored = engine === 'postgres' ? { databaseUrl: url.href } : {};
    const start = () =>
      startTestGateway({
        sandbox: false,
        channels: channels(),
        dataDir: testStore.options.dataDir,
        ...stored,
      });
    const before = await start();
    const id = await new AssetClient(before.url, before.key).upload({ name: 'kept' });
    await before.close();
    mainProvider.setLatestAsset(activeAsset);
    const after = await start();
    expect(await new AssetClient(after.url, after.key).get(id)).toMatchObject({
      Id: id,
      Name: 'kept',
      Status: 'Active',
    });
    await after.close();
    await testStore.remove();
  });
});

describe('the channel of an upload', () => {
  let first: AssetProvider;
  let second: AssetProvider;

  beforeAll(async () => {
    first = await startAssetProvider('one');
    second = await startAssetProvider('two');
  });
  beforeEach(() => {
    for (const provider of [first, second]) {
      provider.seen.length = 0;
      provider.override = undefined;
    }
  });
  afterAll(async () => {
    await first.close();
    await second.close();
  });
  const start = (...models: [string[], string[]]) =>
    startTestGateway({
      sandbox: false,
      channels: [
        channelTo(first.url, { name: 'first', protocol: 'official', models: serving(...models[0]) }),
        channelTo(second.url, { name: 'second', protocol: 'official', models: serving(...models[1]) }),
      ],
    });

  test('is that of the user’s earlier uploads, so that they can be combined', async () => {
    const target = await start(['*'], ['*']);
    const client = new AssetClient(target.url, target.key);
    for (let round = 0; round < 12; round += 1) await client.upload();
    expect([first.uploads().length, second.uploads().length]).toSatisfy(
      (counts: number[]) => counts.includes(12) && counts.includes(0),
    );
    await target.close();
  });

  test('is the one that serves most models of the caller', async () => {
    const target = await start(['epsilon-delta-2-5-*'], ['epsilon-*']);
    for (let round = 0; round < 6; round += 1) {
      await new AssetClient(target.url, await createOtherUserKey(target)).upload();
    }
    expect([first.uploads().length, second.uploads().length]).toEqual([0, 6]);
    await target.close();
  });

  test('is another one if the first one certainly stored nothing', async () => {
    const target = await start(['epsilon-*'], ['epsilon-delta-2-5-*']);
    const client = new AssetClient(target.url, target.key);
    first.override = (_request, response) => sendJson(response, 429, {});
    await client.upload();
    expect([first.uploads().length, second.uploads().length]).toEqual([1, 1]);
    await target.close();
  });

  test.each<[string, number, AssetProvider['override']]>([
    ['the response is lost', 502, (_request, response) => void response.destroy()],
    ['it fails', 502, (_request, response) => sendJson(response, 500, {})],
    [
      'it rejects the upload',
      400,
      (_request, response) => sendJson(response, 400, { error: { code: 'Bad' } }),
    ],
  ])('stays the same if %s, to avoid a second asset or rejection', async (_title, status, override) => {
    const target = await start(['epsilon-*'], ['epsilon-delta-2-5-*']);
    first.override = override;
    const request = { url: 'https://files.example/a.png', asset_type: 'Image' };
    const reply = await new AssetClient(target.url, target.key).call('POST', '/api/assets/upload', request);
    expect([reply.status, first.uploads().length, second.uploads().length]).toEqual([status, 1, 0]);
    await target.close();
  });

  test('is one of at most three for an upload', async () => {
    const channels = ['a', 'b', 'c', 'd'].map((name) => channelTo(first.url, { name, protocol: 'official' }));
    const target = await startTestGateway({ sandbox: false, channels });
    first.override = (_request, response) => sendJson(response, 429, {});
    const request = { url: 'https://files.example/a.png', asset_type: 'Image' };
    const { status } = await new AssetClient(target.url, target.key).call(
      'POST',
      '/api/assets/upload',
      request,
    );
    expect([status, first.uploads().length]).toEqual([429, 3]);
    await target.close();
  });

  test('must exist', async () => {
    const target = await start(['gamma*'], [overseas]);
    const client = new AssetClient(target.url, target.key);
    const request = { url: 'https://files.example/a.png', asset_type: 'Image' };
    expect(await client.call('POST', '/api/assets/upload', request)).toMatchObject({
      status: 503,
      body: { error: { code: 'get_channel_failed' } },
    });
    await target.close();
  });
});
