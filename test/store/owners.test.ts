import { describe, expect, test } from 'vitest';
import { findAssets, latestAssetChannel } from '../../server/store/queries/assets.ts';
import { findTask, listTasks, pageTasks } from '../../server/store/queries/tasks.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import { findVoice, listVoices } from '../../server/store/queries/voices.ts';
import type { Store } from '../../server/store/store.ts';
import { taskPrice } from '../quota/task-rows.ts';
import { engines } from './engines.ts';
import { makeToken } from './ledger.ts';
import { eachTestOnOneStore } from './one-store.ts';

describe.each(engines)('resources of a user on %s', (engine) => {
  let store: Store;
  let owner: TokenRecord;
  let stranger: TokenRecord;
  eachTestOnOneStore(engine, async (made) => {
    store = made.store;
    owner = await makeToken(store, { unlimitedQuota: true, keyHash: 'of the owner' });
    stranger = await makeToken(store, { unlimitedQuota: true });
  });

  const keepAsset = (id: string, { userId }: TokenRecord, channel: string, now: number, model = null) =>
    store.run('saveAsset', {
      id,
      userId,
      tokenId: 1,
      channel,
      upstreamId: `up-${id}`,
      model,
      assetType: 'Image',
      name: '',
      groupId: `group of ${userId}`,
      now,
    });

  /** A completed or a queued task. */
  const makeTask = async (id: string, final: boolean) => {
    await store.run('createTask', {
      id,
      requestId: `request of ${id}`,
      userId: owner.userId,
      tokenId: owner.id,
      operation: 'createVideo',
      format: 'videos',
      driver: 'eta',
      model: 'm',
      unit: 'seconds',
      channel: 'c',
      facts: '{}',
      serviceTier: null,
      askedAt: null,
      expectedUnits: 1,
      ...taskPrice,
      amount: 1,
      callbackUrl: null,
      idempotencyKey: null,
      fingerprint: null,
      deadlineAt: 1e6,
      pollInterval: 1,
      leaseOwner: 'a test',
      leaseUntil: 1e6,
      now: 1,
    });
    if (!final) return;
    const end = { result: '{}', error: null, charge: null, expiresAt: 1e6, dueNow: 2, now: 2 };
    await store.run('finishTask', { id, attempt: null, ...end });
  };

  test('a voice is replaced and deleted for its owner only', async () => {
    const voice = { service: 's', target_model: 'm', channel: 'c', status: 'OK', name: 'n', facts: '{}' };
    const row = {
      voice_id: 'v',
      user_id: owner.userId,
      token_id: 1,
      ...voice,
      created_at: 1,
      updated_at: 1,
    };
    await store.run('saveVoice', row);
    const theirs = { voiceId: 'v', userId: stranger.userId };
    expect(await store.run('updateVoice', { ...theirs, status: 'UNDEPLOYED', now: 2 })).toBe(false);
    expect(await store.run('deleteVoice', theirs)).toBe(false);
    expect(await store.run('saveVoice', { ...row, user_id: stranger.userId })).toBe(false);
    expect(await findVoice(store.read, 'v')).toEqual(row);
    const filter = { service: 's', name: undefined, offset: 0, limit: 10 };
    const listed = await listVoices(store.read, { ...filter, userId: stranger.userId });
    expect(listed).toEqual({ voices: [], total: 0 });
    expect(await store.run('deleteVoice', { voiceId: 'v', userId: owner.userId })).toBe(true);
  });

  test('a task is found, listed and removed for its owner only, open or final', async () => {
    await makeTask('open', false);
    await makeTask('final', true);
    const { userId } = stranger;
    const filter = { userId, format: 'videos' } as const;
    for (const id of ['open', 'final']) {
      expect(await findTask(store.read, { id, ...filter })).toBeUndefined();
      expect(await store.run('removeTask', { id, ...filter })).toBe('not_found');
      expect(await listTasks(store.read, { ...filter, after: id, limit: 10 })).toBeUndefined();
      expect(await pageTasks(store.read, { ...filter, ids: [id], offset: 0, limit: 10 })).toMatchObject({
        total: 0,
        tasks: [],
      });
    }
    expect(await listTasks(store.read, { ...filter, limit: 10 })).toEqual({ tasks: [], hasMore: false });
    const own = { userId: owner.userId, format: 'videos' } as const;
    expect((await listTasks(store.read, { ...own, limit: 10 }))?.tasks).toHaveLength(2);
    expect(await store.run('removeTask', { id: 'open', ...own })).toBe('not_final');
    expect(await store.run('removeTask', { id: 'final', ...own, format: 'official' })).toBe('not_found');
    expect(await store.run('removeTask', { id: 'final', ...own })).toBe('removed');
  });

  test("an asset is found for its owner only, and the owner's latest selects the channel of the next one", async () => {
    await keepAsset('one', owner, 'first', 1);
    await keepAsset('two', stranger, 'second', 2);
    await keepAsset('three', owner, 'third', 3);
    await keepAsset('four', stranger, 'fourth', 4);
    const ids = ['one', 'two'];
    const found = async ({ userId }: TokenRecord) =>
      (await findAssets(store.read, { ids, userId })).map(({ id }) => id);
    expect([await found(owner), await found(stranger)]).toEqual([['one'], ['two']]);
    const latest = ({ userId }: TokenRecord) => latestAssetChannel(store.read, { userId, model: null });
    expect([await latest(owner), await latest(stranger)]).toEqual(['third', 'fourth']);
    const nobody = await makeToken(store);
    expect(await latest(nobody)).toBeUndefined();
    const groupOf = async (id: string, { userId }: TokenRecord) =>
      (await findAssets(store.read, { ids: [id], userId }))[0]?.group_id;
    expect(await groupOf('three', owner)).toBe(`group of ${owner.userId}`);
    expect(await groupOf('two', stranger)).toBe(`group of ${stranger.userId}`);
  });
});
