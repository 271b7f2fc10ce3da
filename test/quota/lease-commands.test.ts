import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { BookedCall } from '../../server/store/commands/booked-calls.ts';
import { findToken, type TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, TestStore } from '../store/engines.ts';
import { disableToken, logEntry, logRows, makeToken } from '../store/ledger.ts';
import { runStatement } from '../store/raw-rows.ts';

describe.each(engines)('commands of quota leases on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let token: TokenRecord;
  let number = 0;
  let id: string;
  beforeAll(async () => {
    testStore = await TestStore.make(engine);
    store = await testStore.open();
    for (const gateway of ['here', 'there'])
      await store.run('recordHeartbeat', { id: gateway, heartbeat: 0 });
  });
  afterAll(() => testStore.remove());
  beforeEach(async () => {
    token = await makeToken(store, { remainQuota: 1_000 });
    id = `here.${(number += 1)}`;
  });

  const grant = (change: { id?: string; grow?: boolean; need?: number; want?: number } = {}) =>
    store.run('grantLease', {
      id,
      grow: false,
      tokenId: token.id,
      gateway: 'here',
      need: 10,
      want: 200,
      now: 1,
      ...change,
    });
  const balance = async () => {
    const row = await store.read
      .selectFrom('tokens')
      .select(['remain_quota', 'leased_quota', 'used_quota'])
      .where('id', '=', token.id)
      .executeTakeFirstOrThrow();
    return [row.remain_quota, row.leased_quota, row.used_quota];
  };
  const lease = (of = id) =>
    store.read.selectFrom('quota_leases').selectAll().where('id', '=', of).executeTakeFirst();
  const give = (amount: number | null) => store.run('returnLease', { id, amount, now: 2 });

  test('a grant is at most a quarter of the balance', async () => {
    expect(await grant()).toEqual({ outcome: 'granted', amount: 200 });
    expect([await balance(), await lease()]).toMatchObject([
      [800, 200, 0],
      { gateway: 'here', granted: 200, remaining: 200, draining: 0 },
    ]);
    expect(await grant({ grow: true, want: 999 })).toEqual({ outcome: 'granted', amount: 200 });
    expect([await balance(), await lease()]).toMatchObject([[600, 400, 0], { granted: 400, remaining: 400 }]);
    expect(await grant({ id: 'other', need: 150, want: 150 })).toEqual({ outcome: 'granted', amount: 150 });
    // A quarter of 450.
    expect(await grant({ id: 'third', need: 113, want: 200 })).toEqual({ outcome: 'scarce' });
    expect(await grant({ id: 'third', need: 112, want: 200 })).toEqual({ outcome: 'granted', amount: 112 });
  });

  test('nothing is leased of an empty, unlimited or revoked key', async () => {
    token = await makeToken(store, { remainQuota: 3 });
    expect(await grant({ need: 0 })).toEqual({ outcome: 'scarce' });
    token = await makeToken(store, { unlimitedQuota: true });
    expect(await grant()).toEqual({ outcome: 'unlimited' });
    token = await makeToken(store, { remainQuota: 1_000 });
    await disableToken(store, token);
    expect(await grant()).toEqual({ outcome: 'key_revoked' });
    expect(await lease()).toBeUndefined();
  });

  test('a recalled lease does not grow, and no other is granted for a while', async () => {
    await grant();
    expect(await store.run('recallLeases', { tokenId: token.id })).toBe(1_000);
    expect(await grant({ grow: true })).toEqual({ outcome: 'recalled' });
    expect(await grant({ id: 'new' })).toEqual({ outcome: 'scarce' });
    expect(await balance()).toEqual([800, 200, 0]);
    await runStatement(testStore, `update tokens set exact_until = 1 where id = ${token.id}`);
    expect(await grant({ id: 'new' })).toMatchObject({ outcome: 'granted' });
    // A time far in the future comes from a clock that was set back.
    await runStatement(testStore, `update tokens set exact_until = 4000000000000 where id = ${token.id}`);
    expect(await grant({ id: 'newer' })).toMatchObject({ outcome: 'granted' });
    expect(await store.run('recallLeases', { tokenId: 999_999 })).toBeNull();
  });

  test('a lease drains after a partial return', async () => {
    await grant();
    expect(await give(50)).toBe(true);
    expect([await balance(), await lease()]).toMatchObject([[850, 150, 0], { remaining: 150, draining: 1 }]);
    expect(await grant({ grow: true })).toEqual({ outcome: 'recalled' });
    await expect(give(151)).rejects.toThrow(/150 left, not 151/);
    expect(await give(null)).toBe(true);
    expect([await balance(), await lease()]).toEqual([[1_000, 0, 0], undefined]);
    expect([await give(null), await give(1), await grant({ grow: true })]).toEqual([
      false,
      false,
      { outcome: 'recalled' },
    ]);
    expect(await balance()).toEqual([1_000, 0, 0]);
  });

  test('only leases of removed gateways are returned', async () => {
    await grant();
    await store.run('grantLease', {
      id: 'lost.1',
      grow: false,
      tokenId: token.id,
      gateway: 'lost',
      need: 1,
      want: 100,
      now: 1,
    });
    expect(await balance()).toEqual([700, 300, 0]);
    await grant({ id: `${id}.two`, want: 50 });
    const freed = { reservations: 0, tasks: 0, deliveries: 0, leases: 1 };
    expect(await store.run('releaseOrphans', { now: 3, dueNow: 3 })).toEqual(freed);
    expect([await balance(), (await lease())?.remaining]).toEqual([[750, 250, 0], 200]);
    expect(await lease('lost.1')).toBeUndefined();
    expect(await store.run('releaseOrphans', { now: 3, dueNow: 3 })).toEqual({ ...freed, leases: 0 });
  });

  const call = (change: Partial<BookedCall> = {}): BookedCall => ({
    requestId: `${id}.r`,
    tokenId: token.id,
    userId: token.userId,
    model: 'm',
    unit: 'characters',
    lease: id,
    held: 50,
    charged: 30,
    returned: 0,
    endedAt: 5_000,
    log: logEntry,
    ...change,
  });
  const settlement = (charged: number, debt = 0) => ({ charged, debt });
  const expectAudited = async () => expect((await store.report('auditLedger', null)).problems).toEqual([]);
  const debtOf = async (key: { id: number }) => (await findToken(store.read, key.id))?.debt;
  const book = (...calls: BookedCall[]) => store.run('settleCalls', { calls });
  const entries = async () => (await logRows(store)).filter(({ token_id: owner }) => owner === token.id);

  test('a call is recorded once', async () => {
    await grant();
    expect(await book(call(), call())).toEqual({ settlements: [settlement(30), null], gone: [] });
    expect(await book(call({ charged: 7 }))).toEqual({ settlements: [null], gone: [] });
    expect([await balance(), (await lease())?.remaining]).toEqual([[800, 170, 30], 170]);
    expect(await entries()).toMatchObject([{ quota: 30, reserved: 50, unlimited: 0, created_at: 5 }]);
  });

  test('a batch settles its new calls only, and writes them in its order', async () => {
    await grant();
    const ids = Array.from({ length: 40 }, (_, index) => `${id}.${(index * 7) % 40}`);
    const calls = ids.map((requestId) => call({ requestId, charged: 5 }));
    const recorded = calls.filter((_, index) => index % 3 === 0);
    const isRecorded = (index: number) => index % 3 === 0;
    await book(...recorded);
    expect(await book(...calls)).toEqual({
      settlements: calls.map((_, index) => (isRecorded(index) ? null : settlement(5))),
      gone: [],
    });
    // All of the lease is used, so a second charge would be refused.
    expect([await balance(), (await lease())?.remaining]).toEqual([[800, 0, 200], 0]);
    const written = (await entries()).toSorted((left, right) => left.id - right.id);
    expect(written.map((entry) => entry.request_id)).toEqual([
      ...recorded.map(({ requestId }) => requestId),
      ...ids.filter((_, index) => !isRecorded(index)),
    ]);
    await expectAudited();
  });

  test('the returned part of a reservation goes to the balance', async () => {
    await grant();
    await give(0);
    expect(await book(call({ returned: 20 }))).toEqual({ settlements: [settlement(30)], gone: [] });
    expect([await balance(), (await lease())?.remaining]).toEqual([[820, 150, 30], 150]);
  });

  test('calls of a lost lease are charged to the balance, and the rest is a debt', async () => {
    token = await makeToken(store, { remainQuota: 40 });
    const three = ['a', 'b', 'c'].map((name) => call({ requestId: `${id}.${name}` }));
    expect(await book(...three)).toEqual({
      settlements: [settlement(30), settlement(10, 20), settlement(0, 30)],
      gone: [id],
    });
    expect(await book(...three)).toMatchObject({ settlements: [null, null, null] });
    expect([await balance(), await debtOf(token)]).toEqual([[0, 0, 40], 50]);
    expect((await entries()).map(({ quota, debt }) => [quota, debt])).toEqual([
      [30, 0],
      [10, 20],
      [0, 30],
    ]);
    await expectAudited();
  });

  test('a cost beyond the lease is charged to the balance, and the rest is a debt', async () => {
    await grant();
    const left = 800;
    const within = call({ requestId: `${id}.a`, beyond: left - 5 });
    const without = call({ requestId: `${id}.b`, beyond: 7 });
    expect(await book(within, without)).toEqual({
      settlements: [settlement(30 + left - 5), settlement(30 + 5, 2)],
      gone: [],
    });
    expect([await balance(), (await lease())?.remaining, await debtOf(token)]).toEqual([
      [0, 140, 860],
      140,
      2,
    ]);
    await expectAudited();
  });

  test('the cost beyond a lost lease is a debt', async () => {
    token = await makeToken(store, { remainQuota: 12 });
    expect(await book(call({ charged: 10, beyond: 5 }))).toEqual({
      settlements: [settlement(12, 3)],
      gone: [id],
    });
    expect([await balance(), await debtOf(token)]).toEqual([[0, 0, 12], 3]);
    await expectAudited();
  });

  test('an unlimited key only counts its use', async () => {
    expect(await book(call({ lease: null }))).toEqual({ settlements: [settlement(30)], gone: [] });
    expect(await balance()).toEqual([1_000, 0, 30]);
    expect(await entries()).toMatchObject([{ unlimited: 1 }]);
  });

  const move = (change: { from?: number; to?: number; requestId?: string }) =>
    store.run('reserveExactly', {
      lease: id,
      requestId: `${id}.x`,
      tokenId: token.id,
      userId: token.userId,
      model: 'm',
      unit: 'characters',
      from: 50,
      to: 90,
      gateway: 'here',
      now: 6,
      ...change,
    });

  test('a reservation that leaves its lease is moved to the ledger in full', async () => {
    await grant();
    expect(await move({})).toBe('extended');
    expect([await balance(), (await lease())?.remaining]).toEqual([[760, 150, 0], 150]);
    expect(await move({ requestId: `${id}.y`, from: 50, to: 811 })).toBe('insufficient_quota');
    expect(await move({ requestId: `${id}.y`, from: 50, to: 810 })).toBe('extended');
    expect([await balance(), (await lease())?.remaining]).toEqual([[0, 100, 0], 100]);
    await expect(move({ requestId: `${id}.z`, from: 101, to: 102 })).rejects.toThrow(/100 left, not 101/);
    const rows = await store.read
      .selectFrom('ledger')
      .select(['reserved', 'state', 'kind', 'gateway'])
      .where('token_id', '=', token.id)
      .orderBy('request_id')
      .execute();
    const open = { state: 'open', kind: 'request', gateway: 'here' };
    expect(rows).toEqual([
      { ...open, reserved: 90 },
      { ...open, reserved: 810 },
    ]);
  });

  test('a reservation of a lost lease is taken from the balance in full', async () => {
    expect(await move({})).toBe('extended');
    expect(await balance()).toEqual([910, 0, 0]);
  });
});
