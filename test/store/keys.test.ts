import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Ledger } from '../../server/quota/ledger.ts';
import type { NewToken } from '../../server/store/commands/accounts.ts';
import {
  findToken,
  findTokenByHash,
  listTokens,
  type TokenRecord,
} from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, TestStore } from './engines.ts';
import {
  balanceOf,
  createChildToken,
  disableToken,
  expectBalanced,
  logEntry,
  logRows,
  makeChildToken,
  makeToken,
  reservationRows,
} from './ledger.ts';

const now = 1_700_000_000_000;

describe.each(engines)('keys on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let ledger: Ledger;
  beforeAll(async () => {
    testStore = await TestStore.make(engine);
    store = await testStore.open();
    ledger = new Ledger(store, 'here', () => now);
    await store.run('recordHeartbeat', { id: 'here', heartbeat: 0 });
  });
  afterAll(() => testStore.remove());

  const tryMake = (maker: TokenRecord, token: Partial<NewToken> = {}) =>
    createChildToken(store, maker, { now, ...token });
  const make = (maker: TokenRecord, token: Partial<NewToken> = {}) =>
    makeChildToken(store, maker, { now, ...token });
  const remove = ({ id, userId }: TokenRecord, by: TokenRecord | null = null) =>
    store.run('deleteToken', { id, userId, by: by?.id ?? null, now });
  const left = async (token: TokenRecord) => (await balanceOf(store, token)).remain_quota;
  const spend = async (token: TokenRecord, amount: number) => {
    const requestId = crypto.randomUUID();
    const outcome = await ledger.reserve({ requestId, token, model: 'm', unit: 'characters', amount });
    if (outcome === 'reserved') await ledger.settle({ requestId, charged: amount, log: logEntry });
    return outcome;
  };
  const chargedTo = async (keys: readonly TokenRecord[]) => {
    const rows = (await logRows(store)).filter(({ token_id: id }) => keys.some((key) => key.id === id));
    return rows.reduce((sum, { quota }) => sum + quota, 0);
  };
  /** Net quota of a key, summed from its grants. */
  const granted = async ({ id }: TokenRecord) => {
    const rows = await store.read.selectFrom('grants').select('amount').where('token_id', '=', id).execute();
    return rows.reduce((sum, { amount }) => sum + amount, 0);
  };

  test('50 parallel clients of one key never overspend by a unit', async () => {
    const token = await makeToken(store, { remainQuota: 1_000 });
    let reserved = 0;
    await Promise.all(
      Array.from({ length: 50 }, async (_, spender) => {
        for (let turn = 0; turn < 8; turn += 1) {
          const requestId = `${spender}.${turn}`;
          const amount = 7 + ((spender + turn) % 5);
          const request = { requestId, token, model: 'm', unit: 'characters', amount } as const;
          if ((await ledger.reserve(request)) !== 'reserved') continue;
          reserved += 1;
          expect(await left(token)).toBeGreaterThanOrEqual(0);
          const raised = await ledger.extend({ requestId, from: amount, to: amount + 3 });
          const most = raised === 'extended' ? amount + 3 : amount;
          if (turn % 4 === 3) await ledger.refund({ requestId });
          // Sometimes more than is reserved.
          else await ledger.settle({ requestId, charged: most + (turn % 2), log: logEntry });
        }
      }),
    );
    expect(reserved).toBeGreaterThan(50);
    expect(await left(token)).toBeGreaterThanOrEqual(0);
    // The rest does not suffice for another call at the highest price.
    expect(await left(token)).toBeLessThan(1_000);
    await expectBalanced(store, token);
    expect((await chargedTo([token])) + (await left(token))).toBe(1_000);
  });

  test('the quota of a key created by a limited key is deducted from it exactly', async () => {
    const maker = await makeToken(store, { remainQuota: 100 });
    const made = await make(maker, { remainQuota: 60 });
    expect(made).toMatchObject({ remainQuota: 60, userId: maker.userId });
    expect(await left(maker)).toBe(40);
    expect(await tryMake(maker, { remainQuota: 41 })).toBe('insufficient_quota');
    await make(maker, { remainQuota: 40 });
    expect(await left(maker)).toBe(0);
    expect([await granted(maker), await granted(made)]).toEqual([0, 60]);
  });

  test('concurrent creations never give away more than the balance', async () => {
    const maker = await makeToken(store, { remainQuota: 100 });
    const made = await Promise.all(Array.from({ length: 30 }, () => tryMake(maker, { remainQuota: 9 })));
    expect(made.filter((one) => one !== 'insufficient_quota')).toHaveLength(11);
    expect(await left(maker)).toBe(1);
  });

  test('an unlimited key gives quota without having any', async () => {
    const maker = await makeToken(store, { unlimitedQuota: true });
    const made = await make(maker, { remainQuota: 60 });
    expect([await left(maker), await granted(maker), await granted(made)]).toEqual([0, 0, 60]);
    await remove(made);
    expect(await left(maker)).toBe(0);
  });

  test('a deleted key is not found, reserves nothing, and returns its balance', async () => {
    const maker = await makeToken(store, { remainQuota: 100 });
    const made = await make(maker, { remainQuota: 60, keyHash: 'made once' });
    expect(await spend(made, 20)).toBe('reserved');
    expect(await remove(made)).toBe('deleted');
    expect(await findTokenByHash(store.read, 'made once')).toBeUndefined();
    expect(await findToken(store.read, made.id)).toBeUndefined();
    expect(await spend(made, 1)).toBe('key_revoked');
    const rows = await reservationRows(store);
    expect(rows.filter(({ token_id: id }) => id === made.id)).toHaveLength(1);
    expect([await left(maker), await left(made)]).toEqual([80, 0]);
    expect([await granted(maker), await granted(made)]).toEqual([80, 20]);
    expect(await remove(made)).toBe('not_found');
    await expect(makeToken(store, { keyHash: 'made once' })).rejects.toThrow(/unique/i);
  });

  test('quota that open work returns to a deleted key is forwarded to its funder', async () => {
    const grandmaker = await makeToken(store, { remainQuota: 100 });
    const maker = await make(grandmaker, { remainQuota: 50 });
    const made = await make(maker, { remainQuota: 30 });
    const request = { requestId: 'open', token: made, model: 'm', unit: 'characters', amount: 30 } as const;
    await ledger.reserve(request);
    await remove(made);
    await remove(maker);
    expect(await left(grandmaker)).toBe(70);
    await ledger.settle({ requestId: 'open', charged: 10, log: logEntry });
    expect((await logRows(store)).at(-1)).toMatchObject({ token_name: 'made', quota: 10 });
    while ((await store.run('returnLeftovers', { limit: 10, now })) > 0);
    expect([await left(made), await left(maker), await left(grandmaker)]).toEqual([0, 0, 90]);
  });

  test('a deleted or disabled key creates no other', async () => {
    const [deleted, disabled] = [await makeToken(store), await makeToken(store)];
    await remove(deleted);
    await disableToken(store, disabled);
    expect([await tryMake(deleted), await tryMake(disabled)]).toEqual(['maker_gone', 'maker_gone']);
  });

  test('a key deletes itself and its descendants, and sees no others', async () => {
    const owner = await makeToken(store, { unlimitedQuota: true });
    const [first, sibling] = [await make(owner), await make(owner)];
    const second = await make(first);
    const third = await make(second);
    expect(await remove(sibling, first)).toBe('not_found');
    expect(await remove(owner, first)).toBe('not_found');
    expect(await remove(first, second)).toBe('not_found');
    expect(await remove(third, first)).toBe('deleted');
    expect(await remove(second, first)).toBe('deleted');
    expect(await remove(first, first)).toBe('deleted');
    const stranger = await makeToken(store);
    expect(await remove({ ...owner, userId: stranger.userId })).toBe('not_found');
    expect(await remove(owner)).toBe('deleted');
  });

  test('keys that are deleted while calls are charged lose no unit', async () => {
    const maker = await makeToken(store, { remainQuota: 500 });
    const keys = await Promise.all(Array.from({ length: 5 }, () => make(maker, { remainQuota: 100 })));
    await Promise.all(
      keys.flatMap((token) => [
        ...Array.from({ length: 8 }, async () => {
          for (let turn = 0; turn < 4; turn += 1) await spend(token, 3);
        }),
        remove(token),
        remove(token),
      ]),
    );
    while ((await store.run('returnLeftovers', { limit: 2, now })) > 0);
    expect((await chargedTo(keys)) + (await left(maker))).toBe(500);
    expect(await Promise.all(keys.map(left))).toEqual([0, 0, 0, 0, 0]);
  });

  test("a list has the user's existing keys, newest first, page by page", async () => {
    const owner = await makeToken(store, { name: 'first' });
    for (const name of ['second', 'third']) await make(owner, { name });
    await remove(await make(owner, { name: 'gone' }));
    await makeToken(store);
    const page = async (offset: number, limit: number) => {
      const { tokens, total } = await listTokens(store.read, { userId: owner.userId, offset, limit });
      return [total, ...tokens.map(({ name }) => name)];
    };
    expect(await page(0, 2)).toEqual([3, 'third', 'second']);
    expect(await page(2, 2)).toEqual([3, 'first']);
    expect(await page(2_147_483_646 * 1_000, 1_000)).toEqual([3]);
  });
});
