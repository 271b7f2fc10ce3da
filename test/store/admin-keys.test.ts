import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findToken, hasAdminAccess, hasLimits, type TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, TestStore } from './engines.ts';
import { createChildToken, makeToken } from './ledger.ts';

const day = 1_900_000_000;

describe.each(engines)('admin access on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  beforeAll(async () => {
    testStore = await TestStore.make(engine);
    store = await testStore.open();
  });
  afterAll(() => testStore.remove());

  test.each([
    ['a limit of quota', { unlimitedQuota: false }],
    ['models', { modelLimits: ['voxa-v2'] }],
    ['an expiry', { expiredTime: day }],
    ['a request limit', { requestsPerMinute: 1 }],
    ['a socket limit', { sockets: 1 }],
    ['the allowance of another key', { allowanceId: 1 }],
  ])('a key with %s has limits, so its scope gives no access', async (_, limit) => {
    const token = await keyOfAdmin(limit);
    expect([hasLimits(token), hasAdminAccess(token)]).toEqual([true, false]);
  });

  test('needs the scope, the role and an enabled user', async () => {
    const token = await keyOfAdmin({ allowIps: ['10.0.0.1'], requestsPerMinute: 0, sockets: 0 });
    expect([hasLimits(token), hasAdminAccess(token)]).toEqual([false, true]);
    for (const without of [{ adminScope: false }, { role: 'user' as const }, { userDisabled: true }])
      expect(hasAdminAccess({ ...token, ...without })).toBe(false);
  });

  async function keyOfAdmin(fields: Parameters<typeof makeToken>[1]): Promise<TokenRecord> {
    const { id: userId } = await store.run('createUser', {
      name: 'a',
      group: 'default',
      role: 'admin',
      now: 1,
    });
    return makeToken(store, { userId, unlimitedQuota: true, adminScope: true, ...fields });
  }
});

describe.each(engines)('what a key may create on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let admin: TokenRecord;
  beforeAll(async () => {
    testStore = await TestStore.make(engine);
    store = await testStore.open();
    const { id: userId } = await store.run('createUser', {
      name: 'a',
      group: 'default',
      role: 'admin',
      now: 1,
    });
    admin = await makeToken(store, { userId, unlimitedQuota: true, adminScope: true });
  });
  afterAll(() => testStore.remove());

  const change = { userId: 1, action: 'updateToken', now: 1 };

  test('a denied creation takes no quota', async () => {
    const maker = await makeToken(store, { remainQuota: 100 });
    await store.run('updateToken', {
      id: maker.id,
      set: { canCreateKeys: false },
      change: { ...change, tokenId: admin.id },
    });
    expect(await createChildToken(store, maker, { remainQuota: 40 })).toBe('creation_denied');
    const other = await makeToken(store, { remainQuota: 100 });
    expect(await createChildToken(store, other, { remainQuota: 40, adminScope: true })).toBe('scope_denied');
    for (const { id } of [maker, other]) expect((await findToken(store.read, id))?.remainQuota).toBe(100);
  });

  test('a key without admin access cannot give the scope to any key, including itself', async () => {
    const token = await makeToken(store, { userId: admin.userId, unlimitedQuota: true });
    const { id } = token;
    const set = { adminScope: true };
    for (const tokenId of [id, 4_711])
      expect(await store.run('updateToken', { id, set, change: { ...change, tokenId } })).toBe(
        'scope_denied',
      );
    expect(await createChildToken(store, token, { unlimitedQuota: true, adminScope: true })).toBe(
      'scope_denied',
    );
    const given = await store.run('updateToken', { id, set, change: { ...change, tokenId: admin.id } });
    expect(given).toMatchObject({ adminScope: true });
  });

  test('the record of a creation is written in the transaction of the key', async () => {
    const recorded = () =>
      store.read.selectFrom('changes').select('subject').where('action', '=', 'createToken').execute();
    const of = { change: { ...change, action: 'createToken', tokenId: admin.id, details: {} } };
    const made = await createChildToken(store, admin, { keyHash: 'once' }, of);
    expect(await recorded()).toEqual([{ subject: `token ${(made as TokenRecord).id}` }]);
    await expect(createChildToken(store, admin, { keyHash: 'once' }, of)).rejects.toThrow(/unique/i);
    expect(await recorded()).toHaveLength(1);
  });

  test('the record of a deletion is written in the same transaction', async () => {
    const { id, userId } = await makeToken(store);
    const of = { change: { ...change, action: 'deleteToken', tokenId: admin.id, details: {} } };
    const remove = () => store.run('deleteToken', { id, userId, by: null, now: 1, ...of });
    expect([await remove(), await remove()]).toEqual(['deleted', 'not_found']);
    const rows = await store.read
      .selectFrom('changes')
      .select('subject')
      .where('action', '=', 'deleteToken')
      .execute();
    expect(rows).toEqual([{ subject: `token ${id}` }]);
  });
});
