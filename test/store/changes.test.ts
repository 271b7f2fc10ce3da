import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listChanges } from '../../server/store/queries/changes.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, TestStore } from './engines.ts';
import { makeToken } from './ledger.ts';

describe.each(engines)('changes on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let userId: number;
  let tokenId: number;
  beforeAll(async () => {
    testStore = await TestStore.make(engine);
    store = await testStore.open();
    ({ userId, id: tokenId } = await makeToken(store));
    for (let index = 1; index <= 5; index += 1)
      await store.run('recordChange', {
        userId: index === 5 ? 4_711 : userId,
        tokenId,
        action: index % 2 === 0 ? 'reload' : 'test',
        subject: `channel ${index}`,
        details: { index, 'ä"': [null, { deep: true }] },
        now: index * 1_000,
      });
  });
  afterAll(() => testStore.remove());

  const found = async (filter: Partial<Parameters<typeof listChanges>[1]> = {}) => {
    const { changes, total } = await listChanges(store.read, { limit: 10, offset: 0, ...filter });
    return [total, ...changes.map(({ subject }) => Number(subject.slice(-1)))];
  };

  test('are returned as they were written, with the name of their user', async () => {
    const { changes } = await listChanges(store.read, { limit: 2, offset: 0 });
    expect(changes).toEqual([
      // The user no longer exists.
      expect.objectContaining({ user_id: 4_711, user_name: '' }),
      {
        id: expect.any(Number),
        user_id: userId,
        user_name: 'someone',
        token_id: tokenId,
        cause: 'api',
        action: 'reload',
        subject: 'channel 4',
        details: JSON.stringify({ index: 4, 'ä"': [null, { deep: true }] }),
        created_at: 4_000,
      },
    ]);
  });

  test('are found newest first, by page, action, subject, user and time', async () => {
    expect(await found()).toEqual([5, 5, 4, 3, 2, 1]);
    expect(await found({ offset: 2, limit: 2 })).toEqual([5, 3, 2]);
    expect(await found({ offset: 5 })).toEqual([5]);
    expect(await found({ action: 'reload' })).toEqual([2, 4, 2]);
    expect(await found({ subject: 'channel 3' })).toEqual([1, 3]);
    expect(await found({ userId })).toEqual([4, 4, 3, 2, 1]);
    expect(await found({ since: 2_000, until: 4_000 })).toEqual([2, 3, 2]);
    expect(await found({ since: 2_000, until: 4_000, action: 'test' })).toEqual([1, 3]);
  });

  test('are written only if the change that they record is committed', async () => {
    const change = { userId, tokenId, action: 'createUser', details: {}, now: 9_000 };
    const { id } = await store.run('createUser', { name: 'new', group: 'default', now: 9_000, change });
    expect(await found({ subject: `user ${id}` })).toEqual([1, expect.any(Number)]);
    const broken = { ...change, details: null as never, now: null as never };
    await expect(
      store.run('createUser', { name: 'none', group: 'default', now: 9_001, change: broken }),
    ).rejects.toThrow(/null/i);
    const users = await store.read.selectFrom('users').select('id').where('name', '=', 'none').execute();
    expect(users).toEqual([]);
  });
});
