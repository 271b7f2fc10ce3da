import { describe, expect, test } from 'vitest';
import { Ledger } from '../../server/quota/ledger.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { eachTestOnEmptyLedger } from '../store/empty-ledger.ts';
import { engines, type TestStore } from '../store/engines.ts';
import { balanceOf, expectBalanced, ledgerRows, logEntry, makeToken } from '../store/ledger.ts';

const fixedNow = 1_700_000_000_500;

describe.each(engines)('extending a reservation on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let now: number;
  let ledger: Ledger;
  eachTestOnEmptyLedger(
    engine,
    () => now,
    (made) => {
      now = fixedNow;
      ({ testStore, store, ledger } = made);
    },
  );

  const reserve = (token: TokenRecord, requestId: string, amount: number) =>
    ledger.reserve({ requestId, token, model: 'm', unit: 'characters', amount });
  const extend = (requestId: string, from: number, to: number) => ledger.extend({ requestId, from, to });
  const row = async () => (await ledgerRows(store))[0];

  test('reserves the difference', async () => {
    const token = await makeToken(store, { remainQuota: 100 });
    await reserve(token, 'r', 10);
    now += 5_000;
    expect(await extend('r', 10, 35)).toBe('extended');
    expect(await row()).toMatchObject({
      reserved: 35,
      state: 'open',
      opened_at: fixedNow,
    });
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 65, used_quota: 0 });
    await ledger.settle({ requestId: 'r', charged: 30, log: logEntry });
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 70, used_quota: 30 });
  });

  test('to the same amount changes nothing', async () => {
    const token = await makeToken(store, { remainQuota: 10 });
    await reserve(token, 'r', 10);
    expect(await extend('r', 10, 10)).toBe('extended');
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 0, used_quota: 0 });
  });

  test('without enough quota leaves it unchanged', async () => {
    const token = await makeToken(store, { remainQuota: 20 });
    await reserve(token, 'r', 10);
    expect(await extend('r', 10, 21)).toBe('insufficient_quota');
    expect(await row()).toMatchObject({ reserved: 10, state: 'open' });
    expect(await extend('r', 10, 20)).toBe('extended');
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 0, used_quota: 0 });
    await ledger.refund({ requestId: 'r' });
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 20, used_quota: 0 });
  });

  test('of an unlimited key always succeeds', async () => {
    const token = await makeToken(store, { unlimitedQuota: true, remainQuota: 1 });
    await reserve(token, 'r', 10);
    expect(await extend('r', 10, 1_000)).toBe('extended');
    expect(await row()).toMatchObject({ reserved: 1_000 });
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 1, used_quota: 0 });
  });

  test('fails when it is closed, unknown or has another amount', async () => {
    const token = await makeToken(store, { remainQuota: 100 });
    await reserve(token, 'settled', 10);
    await ledger.settle({ requestId: 'settled', charged: 5, log: logEntry });
    await reserve(token, 'refunded', 10);
    await ledger.refund({ requestId: 'refunded' });
    await reserve(token, 'other', 10);
    for (const [id, from] of [
      ['settled', 10],
      ['refunded', 10],
      ['unknown', 10],
      ['other', 9],
    ] as const)
      expect(await extend(id, from, 20)).toBe('not_open');
    await expectBalanced(store, token);
  });

  test('succeeds once for two concurrent requests', async () => {
    const token = await makeToken(store, { remainQuota: 100 });
    await reserve(token, 'r', 10);
    const outcomes = await Promise.all([extend('r', 10, 20), extend('r', 10, 30)]);
    expect(outcomes.toSorted()).toEqual(['extended', 'not_open']);
    await expectBalanced(store, token);
  });

  test('concurrently with others never exceeds the balance', async () => {
    const token = await makeToken(store, { remainQuota: 100 });
    const ids = Array.from({ length: 10 }, (_, index) => `r${index}`);
    for (const id of ids) await reserve(token, id, 1);
    const rival = engine === 'postgres' ? new Ledger(await testStore.open(), 'rival', () => now) : ledger;
    const outcomes = await Promise.all(
      ids.map((requestId, index) =>
        (index % 2 === 0 ? ledger : rival).extend({ requestId, from: 1, to: 26 }),
      ),
    );
    // 90 are left, and each extension needs 25.
    expect(outcomes.filter((outcome) => outcome === 'extended')).toHaveLength(3);
    expect(outcomes.filter((outcome) => outcome === 'insufficient_quota')).toHaveLength(7);
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 15, used_quota: 0 });
    await expectBalanced(store, token);
  });

  test('to a lower amount is refused', async () => {
    await expect(extend('r', 10, 9)).rejects.toThrow(RangeError);
    await expect(extend('r', 10, 10.5)).rejects.toThrow(RangeError);
  });
});
