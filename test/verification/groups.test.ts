import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { png } from '../sandbox-media/media-files.ts';
import { useFileHost } from '../sandbox-media/task-client.ts';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo } from '../support/upstream.ts';
import {
  AssetClient,
  type AssetProvider,
  createOtherUserKey,
  sendJson,
  startAssetProvider,
} from '../video/asset-provider.ts';
import { decideOn } from './end-user.ts';
import { SessionClient, type SessionProvider, startSessionProvider } from './session-provider.ts';

const upload = '/api/assets/upload';
const image = { url: 'https://files.example/face.png', asset_type: 'Image' };

describe.each(engines)('groups of verified users on %s', (engine) => {
  let people: SessionProvider;
  let home: AssetProvider;
  let target: TestGateway;
  let sessions: SessionClient;
  let assets: AssetClient;

  beforeAll(async () => {
    [people, home] = await Promise.all([startSessionProvider(engine), startAssetProvider('home')]);
    // Channels of both protocols with the same URL and key have one account.
    const elsewhere = { protocol: 'official', priority: 9 } as const;
    const channels = [
      channelTo(home.url, { name: 'people', protocol: 'verification', key: 'right-key' }),
      channelTo(home.url, { name: 'other-key', key: 'other-key', ...elsewhere }),
      channelTo(people.url, { name: 'other-place', key: 'right-key', ...elsewhere }),
      channelTo(home.url, { name: 'same', protocol: 'official', key: 'right-key' }),
    ];
    target = await startTestGateway({ sandbox: false, channels }, engine);
    sessions = new SessionClient(target.url, target.key);
    assets = new AssetClient(target.url, target.key);
  });
  afterEach(() => {
    home.override = undefined;
    home.seen.length = 0;
  });
  afterAll(async () => {
    await target.close();
    await home.close();
    await people.close();
  });

  /** Creates a session that the provider at `home` has verified, with a group of this upstream id. */
  const verified = async (id: string, upstreamGroup: string) => {
    const facts = { session_id: id, vendor_token: id, h5_link: 'https://verify.example/' };
    home.override = ({ method }, response) => {
      const state = method === 'POST' ? {} : { status: 'verified', group_id: upstreamGroup };
      sendJson(response, 200, { success: true, data: { status: 'pending', ...facts, ...state } });
    };
    await sessions.start({});
    const { group_id } = await sessions.show(id);
    home.override = undefined;
    home.seen.length = 0;
    return group_id;
  };

  test('an asset is uploaded to the account of its group, with the provider’s id of the group', async () => {
    const first = await verified('vs_1', 'group-theirs-1');
    const second = await verified('vs_2', 'group-theirs-2');
    const id = await assets.upload({ group_id: first });
    expect(home.uploads()).toMatchObject([
      {
        headers: { authorization: 'Bearer right-key' },
        body: { ...image, url: 'https://files.example/cat.png', group_id: 'group-theirs-1' },
      },
    ]);
    expect((await assets.get(id)).GroupId).toBe(first);
    expect((await assets.get(await assets.upload({ group_id: second }))).GroupId).toBe(second);
    // Without a group, an asset goes into the caller's own one, also after others with a group.
    const own = (await assets.get(await assets.upload())).GroupId;
    expect([first, second]).not.toContain(own);
    expect((await assets.get(await assets.upload())).GroupId).toBe(own);
    expect(people.seen).toEqual([]);
  });

  test('a group is visible only to its user', async () => {
    const group_id = await verified('vs_3', 'group-theirs-3');
    const stranger = new AssetClient(target.url, await createOtherUserKey(target));
    for (const [client, id] of [
      [stranger, group_id],
      [assets, 'group-theirs-3'],
      [assets, 'group-20260101000000-aaaaa'],
    ] as const) {
      const { status, body } = await client.call('POST', upload, { ...image, group_id: id });
      expect([status, body.error?.message]).toEqual([400, expect.stringMatching(/^group_id: there is no/)]);
    }
    expect(home.seen).toEqual([]);
  });

  test('a provider’s message about a group contains the public id', async () => {
    const group_id = await verified('vs_4', 'group-theirs-4');
    const message = 'group-theirs-4 is full';
    home.override = (_request, response) => sendJson(response, 400, { error: { code: 'Full', message } });
    const { status, body } = await assets.call('POST', upload, { ...image, group_id });
    expect([status, body.error]).toEqual([400, expect.objectContaining({ message: `${group_id} is full` })]);
  });
});

test('an account without assets for the key rejects its group', async () => {
  const people = await startSessionProvider('alone');
  const channels = [
    channelTo(people.url, { name: 'people', protocol: 'verification' }),
    channelTo(people.url, { name: 'elsewhere', protocol: 'official', key: 'other-key' }),
  ];
  const target = await startTestGateway({ sandbox: false, channels });
  const sessions = new SessionClient(target.url, target.key);
  const { session_id: id } = await sessions.start();
  people.sessions.set(id, { status: 'verified', group_id: 'theirs' });
  const { group_id } = await sessions.show(id);
  const { status, body } = await new AssetClient(target.url, target.key).call('POST', upload, {
    ...image,
    group_id,
  });
  expect([status, body.error?.message]).toEqual([400, expect.stringMatching(/^group_id: .*keeps no assets/)]);
  await target.close();
  await people.close();
});

describe('in the sandbox', () => {
  const host = useFileHost();
  const patient = { timeout: 15_000, interval: 100 };

  test('an approved user has a group for assets', async () => {
    const target = await startTestGateway({ callbacks: { allowPrivate: true, secret: undefined } });
    const sessions = new SessionClient(target.url, target.key);
    const assets = new AssetClient(target.url, target.key);
    const { session_id, h5_link } = await sessions.start();
    await decideOn(h5_link, 'approve');
    const { group_id } = await sessions.show(session_id, 10_000);
    const url = host.put('face.png', png(300, 400));
    const face = await assets.upload({ url, group_id });
    const other = await assets.upload({ url, group_id, name: '[[fail-late]]' });
    await expect.poll(() => assets.get(face), patient).toMatchObject({ Status: 'Active', GroupId: group_id });
    await expect
      .poll(() => assets.get(other), patient)
      .toMatchObject({ Status: 'Failed', GroupId: group_id, Error: { Code: 'FaceMismatch' } });
    await target.close();
  });
});
