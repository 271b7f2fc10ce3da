import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { BookedCall } from '../../server/store/commands/booked-calls.ts';
import { findToken, type TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { disableToken, logEntry, logRows, makeToken } from '../store/books.ts';
import { engines, TestStore } from '../store/engines.ts';
import { runStatement } from '../store/raw-rows.ts';

describe.each(engines)('leases of quota in the database, on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let token: TokenRecord;
  let number = 0;
  let id: string;
  beforeAll(async () => {
    testStore = await TestStore.make(engine);
    store = await testStore.open();
    for (const gateway of ['here', 'there']) await store.run('beat', { id: gateway, beat: 0 });
  });
  afterAll(() => testStore.remove());
  beforeEach(async () => {
    token = await makeToken(store, { remainQuota: 1_000 });
    id = `here.${(number += 1)}`;
  });

  const wish = (change: { id?: string; grow?: boolean; need?: number; want?: number } = {}) =>
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

  test('a lease takes what is wanted, and at most a quarter of what is left', async () => {
    expect(await wish()).toEqual({ outcome: 'granted', amount: 200 });
    expect([await balance(), await lease()]).toMatchObject([
      [800, 200, 0],
      { gateway: 'here', granted: 200, remaining: 200, draining: 0 },
    ]);
    expect(await wish({ grow: true, want: 999 })).toEqual({ outcome: 'granted', amount: 200 });
    expect([await balance(), await lease()]).toMatchObject([[600, 400, 0], { granted: 400, remaining: 400 }]);
    expect(await wish({ id: 'other', need: 150, want: 150 })).toEqual({ outcome: 'granted', amount: 150 });
    // A quarter of 450.
    expect(await wish({ id: 'third', need: 113, want: 200 })).toEqual({ outcome: 'scarce' });
    expect(await wish({ id: 'third', need: 112, want: 200 })).toEqual({ outcome: 'granted', amount: 112 });
  });

  test('nothing is leased of what has no quota, no limit or no life', async () => {
    token = await makeToken(store, { remainQuota: 3 });
    expect(await wish({ need: 0 })).toEqual({ outcome: 'scarce' });
    token = await makeToken(store, { unlimitedQuota: true });
    expect(await wish()).toEqual({ outcome: 'unlimited' });
    token = await makeToken(store, { remainQuota: 1_000 });
    await disableToken(store, token);
    expect(await wish()).toEqual({ outcome: 'key_revoked' });
    expect(await lease()).toBeUndefined();
  });

  test('a lease that is asked back grows no more, and for a while none is given', async () => {
    await wish();
    expect(await store.run('recallLeases', { tokenId: token.id })).toBe(1_000);
    expect(await wish({ grow: true })).toEqual({ outcome: 'recalled' });
    expect(await wish({ id: 'new' })).toEqual({ outcome: 'scarce' });
    expect(await balance()).toEqual([800, 200, 0]);
    await runStatement(testStore, `update tokens set exact_until = 1 where id = ${token.id}`);
    expect(await wish({ id: 'new' })).toMatchObject({ outcome: 'granted' });
    // By a clock that was set back, that would last for years.
    await runStatement(testStore, `update tokens set exact_until = 4000000000000 where id = ${token.id}`);
    expect(await wish({ id: 'newer' })).toMatchObject({ outcome: 'granted' });
    expect(await store.run('recallLeases', { tokenId: 999_999 })).toBeNull();
  });

  test('a lease of which some was given back is on its way back', async () => {
    await wish();
    expect(await give(50)).toBe(true);
    expect([await balance(), await lease()]).toMatchObject([[850, 150, 0], { remaining: 150, draining: 1 }]);
    expect(await wish({ grow: true })).toEqual({ outcome: 'recalled' });
    await expect(give(151)).rejects.toThrow(/150 left, not 151/);
    expect(await give(null)).toBe(true);
    expect([await balance(), await lease()]).toEqual([[1_000, 0, 0], undefined]);
    expect([await give(null), await give(1), await wish({ grow: true })]).toEqual([
      false,
      false,
      { outcome: 'recalled' },
    ]);
    expect(await balance()).toEqual([1_000, 0, 0]);
  });

  test('the leases of gateways that are gone come back, and no others', async () => {
    await wish();
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
    await wish({ id: `${id}.two`, want: 50 });
    const freed = { holds: 0, tasks: 0, deliveries: 0, leases: 1 };
    expect(await store.run('freeOrphans', { now: 3, dueNow: 3 })).toEqual(freed);
    expect([await balance(), (await lease())?.remaining]).toEqual([[750, 250, 0], 200]);
    expect(await lease('lost.1')).toBeUndefined();
    expect(await store.run('freeOrphans', { now: 3, dueNow: 3 })).toEqual({ ...freed, leases: 0 });
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
  const paid = (charged: number, debt = 0) => ({ charged, debt });
  const expectProved = async () => expect((await store.report('auditBooks', null)).problems).toEqual([]);
  const debtOf = async (key: { id: number }) => (await findToken(store.read, key.id))?.debt;
  const book = (...calls: BookedCall[]) => store.run('bookCalls', { calls });
  const entries = async () => (await logRows(store)).filter(({ token_id: owner }) => owner === token.id);

  test('a call is written down once, whatever comes twice', async () => {
    await wish();
    expect(await book(call(), call())).toEqual({ settlements: [paid(30), null], gone: [] });
    expect(await book(call({ charged: 7 }))).toEqual({ settlements: [null], gone: [] });
    expect([await balance(), (await lease())?.remaining]).toEqual([[800, 170, 30], 170]);
    expect(await entries()).toMatchObject([{ quota: 30, reserved: 50, unlimited: 0, created_at: 5 }]);
  });

  test('what a call gives back of its lease is in the balance again', async () => {
    await wish();
    await give(0);
    expect(await book(call({ returned: 20 }))).toEqual({ settlements: [paid(30)], gone: [] });
    expect([await balance(), (await lease())?.remaining]).toEqual([[820, 150, 30], 150]);
  });

  test('of a lease that is gone, calls are charged from the balance, and the rest is a debt', async () => {
    token = await makeToken(store, { remainQuota: 40 });
    const three = ['a', 'b', 'c'].map((name) => call({ requestId: `${id}.${name}` }));
    expect(await book(...three)).toEqual({ settlements: [paid(30), paid(10, 20), paid(0, 30)], gone: [id] });
    expect(await book(...three)).toMatchObject({ settlements: [null, null, null] });
    expect([await balance(), await debtOf(token)]).toEqual([[0, 0, 40], 50]);
    expect((await entries()).map(({ quota, debt }) => [quota, debt])).toEqual([
      [30, 0],
      [10, 20],
      [0, 30],
    ]);
    await expectProved();
  });

  test('a cost beyond the lease comes out of the balance, and the rest is a debt', async () => {
    await wish();
    const left = 800;
    const within = call({ requestId: `${id}.a`, beyond: left - 5 });
    const without = call({ requestId: `${id}.b`, beyond: 7 });
    expect(await book(within, without)).toEqual({
      settlements: [paid(30 + left - 5), paid(30 + 5, 2)],
      gone: [],
    });
    expect([await balance(), (await lease())?.remaining, await debtOf(token)]).toEqual([
      [0, 140, 860],
      140,
      2,
    ]);
    await expectProved();
  });

  test('a call of a lease that is gone leaves a debt with what its lease did not cover', async () => {
    token = await makeToken(store, { remainQuota: 12 });
    expect(await book(call({ charged: 10, beyond: 5 }))).toEqual({ settlements: [paid(12, 3)], gone: [id] });
    expect([await balance(), await debtOf(token)]).toEqual([[0, 0, 12], 3]);
    await expectProved();
  });

  test('a key without a limit only uses more', async () => {
    expect(await book(call({ lease: null }))).toEqual({ settlements: [paid(30)], gone: [] });
    expect(await balance()).toEqual([1_000, 0, 30]);
    expect(await entries()).toMatchObject([{ unlimited: 1 }]);
  });

  const exact = (change: { from?: number; to?: number; requestId?: string }) =>
    store.run('holdExactly', {
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

  test('a hold that leaves its lease is a reservation of all that it holds then', async () => {
    await wish();
    expect(await exact({})).toBe('extended');
    expect([await balance(), (await lease())?.remaining]).toEqual([[760, 150, 0], 150]);
    expect(await exact({ requestId: `${id}.y`, from: 50, to: 811 })).toBe('insufficient_quota');
    expect(await exact({ requestId: `${id}.y`, from: 50, to: 810 })).toBe('extended');
    expect([await balance(), (await lease())?.remaining]).toEqual([[0, 100, 0], 100]);
    await expect(exact({ requestId: `${id}.z`, from: 101, to: 102 })).rejects.toThrow(/100 left, not 101/);
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

  test('of a lease that is gone, all of a hold is taken from the balance', async () => {
    expect(await exact({})).toBe('extended');
    expect(await balance()).toEqual([910, 0, 0]);
  });
});
