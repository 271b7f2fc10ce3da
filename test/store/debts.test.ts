import { describe, expect, test } from 'vitest';
import { Ledger } from '../../server/quota/ledger.ts';
import { findToken, type TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { eachTestOnEmptyLedger } from './empty-ledger.ts';
import { engines, type TestStore } from './engines.ts';
import { balanceOf, logEntry, logRows, makeChildToken, makeToken } from './ledger.ts';

const now = 1_795_000_000_000;
const day = 86_400_000;

describe.each(engines)('debts of keys on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let ledger: Ledger;
  eachTestOnEmptyLedger(
    engine,
    () => now,
    (made) => {
      ({ testStore, store, ledger } = made);
    },
  );

  let calls = 0;
  /** Reserves the whole balance of a key, and settles for `debt` more. */
  const overspend = async (token: TokenRecord, debt: number) => {
    calls += 1;
    const requestId = `r${calls}`;
    const { remain_quota: amount } = await balanceOf(store, token);
    await ledger.reserve({ requestId, token, model: 'm', unit: 'characters', amount });
    const settlement = await ledger.settle({ requestId, charged: amount + debt, log: logEntry });
    expect(settlement).toEqual({ charged: amount, debt });
  };
  const change = { userId: 1, tokenId: 1, action: 'grantQuota' as const, now };
  const grant = (token: { id: number }, amount: number, idempotencyKey: string | null = null, to = store) =>
    to.run('grantQuota', { tokenId: token.id, amount, reason: 'r', idempotencyKey, change });
  const stateOf = async (token: { id: number }) => {
    const { remain_quota: left, used_quota: used } = await balanceOf(store, token);
    return { left, used, debt: (await findToken(store.read, token.id))?.debt };
  };
  const audit = () => store.report('auditLedger', null);
  const expectProved = async () => expect((await audit()).problems).toEqual([]);

  test('a grant settles the debt first, and the balance gets the rest', async () => {
    const token = await makeToken(store, { remainQuota: 100 });
    await overspend(token, 300);
    expect(await stateOf(token)).toEqual({ left: 0, used: 100, debt: 300 });
    expect(await audit()).toMatchObject({
      debt: 300,
      debtors: [{ id: token.id, name: 'a key', debt: 300, deleted: false }],
      problems: [],
    });
    expect(await grant(token, 1_000)).toMatchObject({
      outcome: 'granted',
      grant: { amount: 1_000, left: 700, debtSettled: 300, debt: 0 },
    });
    expect(await stateOf(token)).toEqual({ left: 700, used: 400, debt: 0 });
    expect(await audit()).toMatchObject({ debt: 0, debtors: [], granted: 1_100, problems: [] });
    expect(await grant(token, 5)).toMatchObject({ grant: { left: 705, debtSettled: 0, debt: 0 } });
    await expectProved();
  });

  test.each([
    [299, { left: 0, used: 299 + 100, debt: 1 }],
    [300, { left: 0, used: 300 + 100, debt: 0 }],
    [301, { left: 1, used: 300 + 100, debt: 0 }],
  ])('a grant of %i to a key with a debt of 300', async (amount, state) => {
    const token = await makeToken(store, { remainQuota: 100 });
    await overspend(token, 300);
    await grant(token, amount);
    expect(await stateOf(token)).toEqual(state);
    await expectProved();
  });

  test('a repeated grant with the same idempotency key settles nothing again', async () => {
    const token = await makeToken(store, { remainQuota: 100 });
    await overspend(token, 300);
    const first = await grant(token, 200, 'name');
    expect(first).toMatchObject({ grant: { left: 0, debtSettled: 200, debt: 100 } });
    expect(await grant(token, 200, 'name')).toEqual(first);
    expect(await stateOf(token)).toEqual({ left: 0, used: 300, debt: 100 });
    await expectProved();
  });

  test('withdrawn quota creates no debt and settles none', async () => {
    const token = await makeToken(store, { remainQuota: 100 });
    await overspend(token, 30);
    expect(await grant(token, -1)).toMatchObject({ outcome: 'out_of_range', left: 0 });
    await grant(token, 50);
    expect(await grant(token, -20)).toMatchObject({ grant: { left: 0, debtSettled: 0, debt: 0 } });
    await overspend(token, 7);
    expect(await grant(token, -1)).toMatchObject({ outcome: 'out_of_range' });
    expect(await stateOf(token)).toEqual({ left: 0, used: 130, debt: 7 });
    await expectProved();
  });

  test('a debt raises the largest permitted grant by its amount', async () => {
    const token = await makeToken(store, { remainQuota: 100 });
    await overspend(token, 30);
    expect(await grant(token, 10 ** 15 + 31)).toMatchObject({ outcome: 'out_of_range' });
    expect(await stateOf(token)).toEqual({ left: 0, used: 100, debt: 30 });
    expect(await grant(token, 10 ** 15 + 30)).toMatchObject({ outcome: 'granted' });
    expect(await stateOf(token)).toEqual({ left: 10 ** 15, used: 130, debt: 0 });
  });

  test('a deleted key keeps its debt for operators, and its whole balance is returned', async () => {
    const maker = await makeToken(store, { remainQuota: 1_000 });
    const made = await makeChildToken(store, maker, { remainQuota: 100, now });
    await overspend(made, 40);
    // Quota that a lease or a reservation returns later adds to the balance and settles no debt.
    await ledger.reserve({ requestId: 'late', token: maker, model: 'm', unit: 'characters', amount: 5 });
    const other = await makeChildToken(store, maker, { remainQuota: 60, now });
    await overspend(other, 3);
    await grant(other, 13);
    await store.run('deleteToken', { id: made.id, userId: made.userId, by: null, now });
    await store.run('deleteToken', { id: other.id, userId: other.userId, by: null, now });
    expect(await stateOf(maker)).toMatchObject({ left: 1_000 - 100 - 5 - 60 + 10, debt: 0 });
    expect(await audit()).toMatchObject({
      debt: 40,
      debtors: [{ id: made.id, debt: 40, deleted: true }],
      problems: [],
    });
    expect(await grant(made, 40)).toEqual({ outcome: 'not_found' });
    await expectProved();
  });

  test('quota that moves to or from a new key settles no debt', async () => {
    const maker = await makeToken(store, { remainQuota: 100 });
    await ledger.reserve({ requestId: 'held', token: maker, model: 'm', unit: 'characters', amount: 60 });
    await overspend(maker, 50);
    await ledger.refund({ requestId: 'held' });
    expect(await stateOf(maker)).toEqual({ left: 60, used: 40, debt: 50 });
    const made = await makeChildToken(store, maker, { remainQuota: 20, now });
    expect([await stateOf(maker), await stateOf(made)]).toEqual([
      { left: 40, used: 40, debt: 50 },
      { left: 20, used: 0, debt: 0 },
    ]);
    await store.run('deleteToken', { id: made.id, userId: made.userId, by: null, now });
    expect(await stateOf(maker)).toEqual({ left: 60, used: 40, debt: 50 });
    await expectProved();
  });

  test('an unlimited key has none, and a key that becomes unlimited keeps its debt', async () => {
    const unlimited = await makeToken(store, { unlimitedQuota: true });
    await ledger.reserve({ requestId: 'u', token: unlimited, model: 'm', unit: 'characters', amount: 1 });
    expect(await ledger.settle({ requestId: 'u', charged: 9, log: logEntry })).toEqual({
      charged: 9,
      debt: 0,
    });
    const token = await makeToken(store, { remainQuota: 10 });
    await overspend(token, 4);
    await store.run('updateToken', { id: token.id, set: { unlimitedQuota: true }, change });
    await ledger.reserve({ requestId: 'v', token, model: 'm', unit: 'characters', amount: 1 });
    await ledger.settle({ requestId: 'v', charged: 9, log: logEntry });
    expect(await stateOf(token)).toEqual({ left: 0, used: 19, debt: 4 });
    await expectProved();
  });

  test('pass the audit after the log is deleted', async () => {
    const token = await makeToken(store, { remainQuota: 100 });
    await overspend(token, 30);
    await grant(token, 10);
    while ((await store.run('sweepLog', { closedBefore: now + day, limit: 9 })) > 0);
    expect(await logRows(store)).toEqual([]);
    expect(await audit()).toMatchObject({ debt: 20, closed: 0, problems: [] });
    await grant(token, 25);
    expect(await stateOf(token)).toEqual({ left: 5, used: 130, debt: 0 });
    await expectProved();
  });

  // SQLite deletes log rows one by one: it has no days to drop.
  if (engine === 'postgres') {
    test('pass the audit after a day of the log is dropped', async () => {
      const today = Math.floor(now / day);
      await store.run('addLogDays', { first: today, last: today });
      const token = await makeToken(store, { remainQuota: 100 });
      await overspend(token, 30);
      // A call that took nothing from the balance.
      await ledger.reserve({ requestId: 'free', token, model: 'm', unit: 'characters', amount: 0 });
      expect(await ledger.settle({ requestId: 'free', charged: 4, log: logEntry })).toEqual({
        charged: 0,
        debt: 4,
      });
      expect(await store.run('dropLogDay', { day: today, closedBefore: now + 2 * day })).toBe(2);
      expect(await logRows(store)).toEqual([]);
      expect(await audit()).toMatchObject({ debt: 34, problems: [] });
    });
  }

  test('concurrent settlements and grants of two gateways lose and duplicate nothing', async () => {
    const token = await makeToken(store, { remainQuota: 100 });
    const other = engine === 'postgres' ? await testStore.open() : store;
    const rival = new Ledger(other, 'there', () => now);
    const ids = Array.from({ length: 10 }, (_, index) => `at once ${index}`);
    for (const requestId of ids)
      await ledger.reserve({ requestId, token, model: 'm', unit: 'characters', amount: 10 });
    await Promise.all(
      ids.flatMap((requestId, index) => [
        ledger.settle({ requestId, charged: 17, log: logEntry }),
        rival.settle({ requestId, charged: 17, log: logEntry }),
        grant(token, 4, `grant ${index}`, store),
        grant(token, 4, `grant ${index}`, other),
      ]),
    );
    // 140 were granted in total, and 170 spent.
    expect(await stateOf(token)).toEqual({ left: 0, used: 140, debt: 30 });
    await expectProved();
  });
});
