import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isUsable } from '../../server/keys/key-cache.ts';
import type { NewToken } from '../../server/store/commands/accounts.ts';
import { listChanges } from '../../server/store/queries/changes.ts';
import {
  findToken,
  findTokenByHash,
  findTokensByHash,
  listTokens,
  searchTokens,
  type TokenRecord,
} from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, TestStore } from './engines.ts';
import { balanceOf, createChildToken, makeChildToken, makeToken } from './ledger.ts';

const now = 1_700_000_000_000;
const seconds = now / 1_000;
const change = { userId: 1, tokenId: 1, action: 'updateToken', now };
const revocation = { ...change, action: 'revokeToken', details: {} };

describe.each(engines)('keys created with other keys on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  beforeAll(async () => {
    testStore = await TestStore.make(engine);
    store = await testStore.open();
  });
  afterAll(() => testStore.remove());

  const create = (maker: TokenRecord, token: Partial<NewToken> = {}, maxKeys = 0) =>
    createChildToken(store, maker, { now, ...token }, { maxKeys });
  const child = (maker: TokenRecord, token: Partial<NewToken> = {}) =>
    makeChildToken(store, maker, { now, ...token });
  /** A key, one created with it, one with that one, and so on. */
  const chain = async (length: number, root: Partial<NewToken> = {}) => {
    const keys = [await makeToken(store, { unlimitedQuota: true, ...root })];
    for (let last = keys[0]; last !== undefined && keys.length < length; last = keys.at(-1))
      keys.push(await child(last, { unlimitedQuota: last.unlimitedQuota }));
    return keys as [TokenRecord, TokenRecord, TokenRecord, ...TokenRecord[]];
  };
  /** Whether each key works at a time, checked through every look-up. */
  const working = async (keys: readonly TokenRecord[], at = now) => {
    const rows = await store.read
      .selectFrom('tokens')
      .select(['id', 'key_hash'])
      .where(
        'id',
        'in',
        keys.map(({ id }) => id),
      )
      .execute();
    const hashes = new Map(rows.map((row) => [row.id, row.key_hash]));
    const batch = await findTokensByHash(store.read, [...hashes.values()]);
    const works = (token: TokenRecord | undefined) => token !== undefined && isUsable(token, at);
    return Promise.all(
      keys.map(async ({ id }) => {
        const hash = hashes.get(id) ?? '';
        const each = [
          works(await findTokenByHash(store.read, hash)),
          works(await findToken(store.read, id)),
          works(batch.get(hash)),
        ];
        expect(new Set(each).size).toBe(1);
        return each[0];
      }),
    );
  };
  const left = async (token: TokenRecord) => (await balanceOf(store, token)).remain_quota;

  test('have all their ancestors, the nearest first', async () => {
    const [first, second, third] = await chain(3);
    expect((await findToken(store.read, third.id))?.lineage).toEqual({
      ancestorIds: [second.id, first.id],
      isCutOff: false,
      expiredTime: -1,
    });
    expect(third.makerId).toBe(second.id);
    expect(first).toMatchObject({ makerId: null, lineage: { ancestorIds: [] } });
  });

  test('stop while one above them is disabled, and work again when it is enabled', async () => {
    const keys = await chain(4);
    const [, second] = keys;
    await store.run('updateToken', { id: second.id, set: { status: 2 }, change });
    expect(await working(keys)).toEqual([true, false, false, false]);
    await store.run('updateToken', { id: second.id, set: { status: 1 }, change });
    expect(await working(keys)).toEqual([true, true, true, true]);
  });

  test('end with the first of them that expires', async () => {
    const keys = await chain(3);
    await store.run('updateToken', { id: keys[0].id, set: { expiredTime: seconds + 20 }, change });
    await store.run('updateToken', { id: keys[1].id, set: { expiredTime: seconds + 10 }, change });
    expect((await findToken(store.read, keys[2].id))?.lineage.expiredTime).toBe(seconds + 10);
    expect(await working(keys, now + 9_999)).toEqual([true, true, true]);
    expect(await working(keys, now + 10_000)).toEqual([true, false, false]);
  });

  test('are found in a search by their effective status', async () => {
    const disabled = await chain(2, { name: 'd' });
    await store.run('updateToken', { id: disabled[0].id, set: { status: 2 }, change });
    const expired = await chain(2, { name: 'e' });
    await store.run('updateToken', { id: expired[0].id, set: { expiredTime: 1 }, change });
    const fine = await chain(2, { name: 'f' });
    const all = [...disabled, ...expired, ...fine].map(({ id }) => id);
    const withStatus = async (status: 1 | 2 | 3 | 4) => {
      const { tokens } = await searchTokens(store.read, { name: '', status, now, offset: 0, limit: 1_000 });
      return tokens
        .map(({ id }) => id)
        .filter((id) => all.includes(id))
        .toSorted((a, b) => a - b);
    };
    expect(await withStatus(1)).toEqual(fine.map(({ id }) => id));
    expect(await withStatus(2)).toEqual(disabled.map(({ id }) => id));
    expect(await withStatus(3)).toEqual(expired.map(({ id }) => id));
    expect(await withStatus(4)).toEqual([]);
  });

  test('are deleted with their parent, and every unit is returned up the chain once', async () => {
    const root = await makeToken(store, { remainQuota: 1_000 });
    const first = await child(root, { remainQuota: 600 });
    const second = await child(first, { remainQuota: 250 });
    const third = await child(second, { remainQuota: 100 });
    const other = await child(root, { remainQuota: 50 });
    expect(await store.run('deleteToken', { id: first.id, userId: root.userId, by: root.id, now })).toBe(
      'deleted',
    );
    expect(await working([root, first, second, third, other])).toEqual([true, false, false, false, true]);
    const keys = [root, first, second, third, other];
    expect(await Promise.all(keys.map(left))).toEqual([950, 0, 0, 0, 50]);
    // Neither the sweep nor a second deletion moves anything again.
    await store.run('returnLeftovers', { limit: 10, now });
    for (const { id } of [first, third])
      expect(await store.run('deleteToken', { id, userId: root.userId, by: null, now })).toBe('not_found');
    expect(await Promise.all(keys.map(left))).toEqual([950, 0, 0, 0, 50]);
    const { tokens } = await listTokens(store.read, { userId: root.userId, limit: 10, offset: 0 });
    expect(tokens.map(({ id }) => id)).toEqual([other.id, root.id]);
  });

  test('are deleted with it when they are created at the same moment', async () => {
    const root = await makeToken(store, { remainQuota: 1_000 });
    const maker = await child(root, { remainQuota: 500 });
    const created = Promise.all(Array.from({ length: 10 }, () => create(maker, { remainQuota: 10 })));
    const deleted = await store.run('deleteToken', { id: maker.id, userId: root.userId, by: null, now });
    const made = (await created).filter((one) => typeof one !== 'string');
    expect(deleted).toBe('deleted');
    expect(await working([root, ...made])).toEqual([true, ...made.map(() => false)]);
    expect(await left(root)).toBe(1_000);
  });

  test('remain when an operator keeps them, and belong to the next ancestor', async () => {
    const keys = await chain(4);
    const [first, second, third, fourth] = keys;
    const done = await store.run('revokeToken', {
      id: second.id,
      keepChildren: true,
      change: { ...revocation },
    });
    expect(done).toBe(true);
    expect(await working(keys)).toEqual([true, false, true, true]);
    expect((await findToken(store.read, third.id))?.makerId).toBe(first.id);
    expect((await findToken(store.read, fourth?.id ?? 0))?.lineage.ancestorIds).toEqual([third.id, first.id]);
    await store.run('revokeToken', { id: first.id, keepChildren: true, change: revocation });
    expect((await findToken(store.read, third.id))?.makerId).toBe(null);
    const found = async (id: number) => {
      const subject = `token ${id}`;
      const { changes } = await listChanges(store.read, { subject, limit: 10, offset: 0 });
      return changes.map(({ details }) => JSON.parse(details) as unknown);
    };
    expect(await found(second.id)).toEqual([{ keep_children: true, moved: [third.id] }]);
    await store.run('revokeToken', { id: third.id, change: revocation });
    expect(await found(third.id)).toEqual([{ deleted: [fourth?.id] }]);
    expect(await store.run('revokeToken', { id: third.id, change: revocation })).toBe(false);
  });

  test('cannot create keys if their former parent could not', async () => {
    const [root, middle, leaf] = await chain(3);
    await store.run('updateToken', { id: middle.id, set: { canCreateKeys: false }, change });
    await store.run('revokeToken', { id: middle.id, keepChildren: true, change: revocation });
    expect(await create(leaf)).toBe('creation_denied');
    expect(await create(root)).toMatchObject({ makerId: root.id });
  });

  test("return quota to their funder's funder when the funder was revoked without them", async () => {
    const root = await makeToken(store, { remainQuota: 1_000 });
    const middle = await child(root, { remainQuota: 600 });
    const leaf = await child(middle, { remainQuota: 200 });
    await store.run('revokeToken', { id: middle.id, keepChildren: true, change: revocation });
    expect(await Promise.all([root, middle, leaf].map(left))).toEqual([800, 0, 200]);
    await store.run('revokeToken', { id: leaf.id, change: revocation });
    await store.run('returnLeftovers', { limit: 10, now });
    expect(await Promise.all([root, middle, leaf].map(left))).toEqual([1_000, 0, 0]);
  });

  test('never exceed the limit of a key, however many are created at once', async () => {
    const root = await makeToken(store, { unlimitedQuota: true });
    const made = await Promise.all(Array.from({ length: 12 }, () => create(root, {}, 5)));
    expect(made.filter((one) => one === 'too_many_keys')).toHaveLength(7);
    const one = made.find((result) => typeof result !== 'string');
    if (one === undefined || typeof one === 'string') throw new Error('no key was created');
    await store.run('deleteToken', { id: one.id, userId: root.userId, by: null, now });
    expect(await create(root, {}, 5)).toMatchObject({ makerId: root.id });
    expect(await create(root, {}, 5)).toBe('too_many_keys');
    expect(await create(root, {}, 0)).toMatchObject({ makerId: root.id });
  });
});
