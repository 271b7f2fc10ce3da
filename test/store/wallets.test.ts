import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../server/quota/ledger.ts';
import { Retention } from '../../server/quota/maintenance.ts';
import { auditLedger } from '../../server/store/queries/audit.ts';
import { findToken, searchTokens, type TokenRecord } from '../../server/store/queries/tokens.ts';
import { listWalletGrants, walletOf } from '../../server/store/queries/wallets.ts';
import { readSnapshot } from '../../server/store/read-snapshot.ts';
import type { TokenStatus } from '../../server/store/schema.ts';
import type { Store } from '../../server/store/store.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { endTask, newTaskRow } from '../quota/task-rows.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { eachTestOnEmptyLedger } from './empty-ledger.ts';
import { engines, type TestStore } from './engines.ts';
import { balanceOf, logEntry, logRows, makeAccount, makeChildToken, makeToken } from './ledger.ts';
import { runStatement } from './raw-rows.ts';

const start = 1_795_000_000_000;
const day = 86_400_000;

const cases = engines.flatMap((engine) => [
  [engine, 'the keys of its user'] as const,
  [engine, 'a sub-account'] as const,
]);

describe.each(cases)('a wallet on %s, with %s', (engine, payee) => {
  let testStore: TestStore;
  let store: Store;
  let ledger: Ledger;
  let now: number;
  let requests: number;
  eachTestOnEmptyLedger(
    engine,
    () => now,
    (made) => {
      now = start;
      requests = 0;
      ({ testStore, store, ledger } = made);
    },
  );

  const audit = () => readSnapshot(testStore.options, auditLedger);
  const nextId = () => `r${(requests += 1)}`;
  const change = (action = 'openWallet') => ({ userId: 1, tokenId: 1, action, now });
  const open = (userId: number) => store.run('openWallet', { userId, change: change() });
  const grantTo = (userId: number, amount: number, reference = nextId()) =>
    store.run('grantToWallet', {
      userId,
      amount,
      reason: 'paid',
      reference,
      change: change('grantToWallet'),
    });
  const reserve = async (token: TokenRecord, amount: number, kind: 'request' | 'task' = 'request') => {
    const requestId = nextId();
    const outcome = await ledger.reserve({
      requestId,
      token,
      model: 'm',
      unit: 'characters',
      amount,
      kind,
    });
    return outcome === 'reserved' ? requestId : outcome;
  };
  const settle = (requestId: string, charged: number) => ledger.settle({ requestId, charged, log: logEntry });
  const spend = async (token: TokenRecord, charged: number) => settle(await reserve(token, charged), charged);
  const wallet = (userId: number) => walletOf(store.read, userId);
  const limitOf = async ({ id }: TokenRecord) => (await findToken(store.read, id))?.remainQuota;

  /** A user with a wallet of `balance`, a key without its own limit, and one with a limit, which can be of a sub-account. */
  async function customer(balance: number, limit = 100) {
    const free = await makeToken(store, { unlimitedQuota: true });
    const { userId } = free;
    await grantTo(userId, balance, 'first payment');
    const account = payee === 'a sub-account' ? await makeAccount(store, userId) : userId;
    const limited = await makeToken(store, { userId: account, remainQuota: limit });
    return { userId, free, limited };
  }

  async function expectAudited(): Promise<void> {
    expect((await audit()).problems).toEqual([]);
  }

  test('takes over balances, leases, open reservations and debts of all keys', async () => {
    const first = await makeToken(store, { remainQuota: 1_000 });
    const { userId } = first;
    const second = await makeToken(store, { userId, remainQuota: 500 });
    await makeToken(store, { userId, unlimitedQuota: true });
    const other = await makeToken(store, { remainQuota: 7 });
    // A debt of 40, which the balance of the key no longer covers.
    await settle(await reserve(second, 500), 540);
    const call = await reserve(first, 60);
    const task = newTaskRow(first, { requestId: nextId(), amount: 70 });
    await store.run('createTask', task);
    await store.run('grantLease', {
      id: 'lease',
      grow: false,
      tokenId: first.id,
      gateway: 'here',
      need: 1,
      want: 100,
      now,
    });
    expect(await open(userId)).toMatchObject({
      outcome: 'opened',
      // 1,000 without the two reservations, and the debt is settled.
      wallet: { userId, balance: 1_000 - 130 - 40, reserved: 130, used: 40, debt: 0 },
    });
    expect(await open(userId)).toMatchObject({ outcome: 'existed' });
    await expectAudited();
    await settle(call, 50);
    expect(await endTask(store, task.id, 70)).toBe(true);
    expect(await wallet(userId)).toMatchObject({ balance: 840, reserved: 0, used: 160 });
    expect(await store.run('returnLease', { id: 'lease', amount: null, now })).toBe(true);
    expect(await wallet(userId)).toMatchObject({ balance: 840, free: 840 });
    expect(await wallet(other.userId)).toBeUndefined();
    expect(await limitOf(first)).toBe(880);
    expect(await audit()).toMatchObject({
      problems: [],
      wallets: { wallets: 1, granted: 1_000, held: 0, leased: 0, spent: 120, refunded: 0, balance: 840 },
    });
  });

  test('is opened by the first grant, and a repeated grant returns the first result', async () => {
    const token = await makeToken(store, { remainQuota: 10 });
    const { userId } = token;
    const granted = await grantTo(userId, 100, 'payment 1');
    expect(granted).toMatchObject({
      outcome: 'granted',
      grant: { amount: 100, balance: 110, debt: 0, debtSettled: 0, reference: 'payment 1' },
    });
    await spend(token, 5);
    expect(await grantTo(userId, 100, 'payment 1')).toEqual(granted);
    expect(await grantTo(userId, 101, 'payment 1')).toMatchObject({ outcome: 'reused' });
    expect(await wallet(userId)).toMatchObject({ balance: 105 });
    // Another user can have a payment of the same reference.
    const { userId: other } = await makeToken(store);
    expect(await grantTo(other, 1, 'payment 1')).toMatchObject({ outcome: 'granted' });
    expect(await grantTo(userId + 100, 1)).toEqual({ outcome: 'not_found' });
    expect(await listWalletGrants(store.read, { userId, before: undefined, limit: 10 })).toMatchObject([
      { amount: 100, kind: 'given' },
      { amount: 10, kind: 'taken_over', reference: null },
    ]);
    await expectAudited();
  });

  test('gets a grant once that is sent several times at once', async () => {
    const { userId } = await makeToken(store, { remainQuota: 10 });
    const results = await Promise.all(Array.from({ length: 8 }, () => grantTo(userId, 100, 'payment 1')));
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
    expect(results[0]).toMatchObject({ outcome: 'granted' });
    expect(await wallet(userId)).toMatchObject({ balance: 110 });
    await expectAudited();
  });

  test('is not granted more than an exact number, and no more is taken from it than it has', async () => {
    const { userId } = await customer(100);
    expect(await grantTo(userId, 10 ** 15)).toEqual({ outcome: 'out_of_range', left: 100 });
    expect(await grantTo(userId, -101)).toEqual({ outcome: 'out_of_range', left: 100 });
    expect(await grantTo(userId, -100)).toMatchObject({ outcome: 'granted', grant: { balance: 0 } });
    await expectAudited();
  });

  test('is not opened by a first grant that is refused', async () => {
    const token = await makeToken(store, { remainQuota: 10 });
    const { userId } = token;
    expect(await grantTo(userId, -11)).toEqual({ outcome: 'out_of_range', left: 10 });
    expect(await grantTo(userId, 10 ** 15)).toEqual({ outcome: 'out_of_range', left: 10 });
    expect(await wallet(userId)).toBeUndefined();
    expect(await findToken(store.read, token.id)).toMatchObject({ hasWallet: false, remainQuota: 10 });
    expect(await grantTo(userId, -10)).toMatchObject({ outcome: 'granted', grant: { balance: 0 } });
    expect(await wallet(userId)).toMatchObject({ balance: 0 });
    await expectAudited();
  });

  test('exhausts all keys while it is empty', async () => {
    const { userId, free, limited } = await customer(20, 100);
    const found = async (status: TokenStatus) => {
      const search = { name: '', status, now, offset: 0, limit: 10 };
      return (await searchTokens(store.read, search)).tokens.map(({ id }) => id);
    };
    expect([await found(1), await found(4)]).toEqual([[limited.id, free.id], []]);
    await store.run('grantLease', {
      id: 'lease',
      grow: false,
      tokenId: free.id,
      gateway: 'here',
      need: 1,
      want: 5,
      now,
    });
    await spend(limited, 15);
    // The lease has the rest.
    expect([await found(1), await found(4)]).toEqual([[limited.id, free.id], []]);
    await store.run('returnLease', { id: 'lease', amount: null, now });
    await spend(free, 5);
    expect([await found(1), await found(4)]).toEqual([[], [limited.id, free.id]]);
    for (const { id } of [free, limited])
      expect(await findToken(store.read, id)).toMatchObject({ hasEmptyWallet: true });
    await grantTo(userId, 1);
    expect(await findToken(store.read, free.id)).toMatchObject({ hasEmptyWallet: false });
    expect([await found(1), await found(4)]).toEqual([[limited.id, free.id], []]);
  });

  test('pays for the calls of every key, of which one has a limit', async () => {
    const { userId, free, limited } = await customer(300, 100);
    await spend(free, 150);
    await spend(limited, 30);
    expect(await reserve(limited, 71)).toBe('insufficient_quota');
    expect(await reserve(free, 121)).toBe('insufficient_quota');
    expect(await wallet(userId)).toMatchObject({ balance: 120, used: 180, reserved: 0 });
    const held = await reserve(limited, 70);
    expect(await reserve(free, 51)).toBe('insufficient_quota');
    expect(await wallet(userId)).toMatchObject({ balance: 50, reserved: 70 });
    expect(await ledger.extend({ requestId: held, from: 70, to: 71 })).toBe('insufficient_quota');
    expect(await ledger.refund({ requestId: held })).toBe(true);
    const again = await reserve(free, 10);
    expect(await ledger.extend({ requestId: again, from: 10, to: 120 })).toBe('extended');
    expect(await ledger.extend({ requestId: again, from: 120, to: 121 })).toBe('insufficient_quota');
    await settle(again, 100);
    expect(await wallet(userId)).toMatchObject({ balance: 20, used: 280, reserved: 0, debt: 0 });
    expect(await limitOf(limited)).toBe(70);
    await expectAudited();
  });

  test('has the debt of work that cost more than it had, which the next grant settles', async () => {
    const { userId, free, limited } = await customer(100, 50);
    await settle(await reserve(free, 100), 130);
    expect(await wallet(userId)).toMatchObject({ balance: 0, used: 100, debt: 30 });
    expect(await findToken(store.read, free.id)).toMatchObject({ debt: 0, usedQuota: 100 });
    expect(await grantTo(userId, 20)).toMatchObject({ grant: { debtSettled: 20, debt: 10, balance: 0 } });
    expect(await grantTo(userId, 210)).toMatchObject({ grant: { debtSettled: 10, debt: 0, balance: 200 } });
    // The wallet pays for work beyond the limit of a key, which can do no more work then.
    await settle(await reserve(limited, 50), 90);
    expect(await wallet(userId)).toMatchObject({ balance: 110, debt: 0, used: 220 });
    expect(await limitOf(limited)).toBe(0);
    expect(await reserve(limited, 1)).toBe('insufficient_quota');
    expect(await reserve(limited, 0)).toMatch(/^r/);
    // The limit lacks 40, which a grant to the key makes up for first.
    const grant = (amount: number) =>
      store.run('grantQuota', {
        tokenId: limited.id,
        amount,
        reason: 'paid',
        idempotencyKey: null,
        change: change('grantQuota'),
      });
    expect(await grant(10)).toMatchObject({ outcome: 'granted', grant: { left: 0, debt: 0 } });
    expect(await grant(35)).toMatchObject({ outcome: 'granted', grant: { left: 5, debt: 0 } });
    await expectAudited();
  });

  test('keeps the quota of keys that are deleted, and settles their work', async () => {
    const { userId, limited, free } = await customer(1_000, 300);
    const [call, task] = [await reserve(limited, 100), await reserve(free, 200, 'task')];
    for (const { id, userId: owner } of [limited, free])
      await store.run('deleteToken', { id, userId: owner, by: null, now });
    expect(await wallet(userId)).toMatchObject({ balance: 700, reserved: 300 });
    await settle(call, 90);
    await settle(task, 250);
    expect(await wallet(userId)).toMatchObject({ balance: 660, reserved: 0, used: 340 });
    await expectAudited();
  });

  test('settles a task after its key is deleted', async () => {
    const { userId, free } = await customer(1_000);
    const row = newTaskRow(free, { requestId: nextId(), amount: 100 });
    expect(await store.run('createTask', row)).toMatchObject({ outcome: 'created' });
    await store.run('deleteToken', { id: free.id, userId, by: null, now });
    expect(await endTask(store, row.id, 60)).toBe(true);
    expect(await wallet(userId)).toMatchObject({ balance: 940, used: 60 });
    await expectAudited();
  });

  test('is not changed by a new key of a key, whose limit is a part of that of its creator', async () => {
    const { userId, limited, free } = await customer(1_000, 300);
    const made = await makeChildToken(store, limited, { remainQuota: 200, now });
    const given = await makeChildToken(store, free, { remainQuota: 50, now });
    expect([made.hasWallet, given.hasWallet]).toEqual([true, true]);
    expect(await limitOf(limited)).toBe(100);
    await spend(made, 20);
    await spend(given, 50);
    expect(await wallet(userId)).toMatchObject({ balance: 930 });
    await store.run('deleteToken', { id: made.id, userId: made.userId, by: null, now });
    expect(await limitOf(limited)).toBe(280);
    expect(await wallet(userId)).toMatchObject({ balance: 930 });
    await expectAudited();
  });

  test('gets refunds, also of calls that were charged to a key before', async () => {
    const limited = await makeToken(store, { remainQuota: 100 });
    const { userId } = limited;
    const unlimited = await makeToken(store, { userId, unlimitedQuota: true });
    const [before, free] = [await reserve(limited, 40), await reserve(unlimited, 30)];
    await settle(before, 40);
    await settle(free, 30);
    await open(userId);
    const after = await reserve(unlimited, 20);
    await settle(after, 20);
    const refund = (id: string) =>
      store.run('refundCall', {
        id,
        amount: null,
        reason: 'late',
        idempotencyKey: null,
        change: change('refundCall'),
      });
    expect(await wallet(userId)).toMatchObject({ balance: 40, used: 20 });
    expect(await refund(before)).toMatchObject({ refund: { left: 100, walletBalance: 80 } });
    expect(await wallet(userId)).toMatchObject({ balance: 80, used: -20 });
    expect(await refund(after)).toMatchObject({ refund: { left: null, walletBalance: 100 } });
    // Nobody paid for it.
    expect(await refund(free)).toMatchObject({ refund: { left: null, walletBalance: null } });
    expect(await wallet(userId)).toMatchObject({ balance: 100, used: -40 });
    await expectAudited();
  });

  test('gets the reservations and leases of lost gateways, whose calls can still be settled', async () => {
    const { userId, free, limited } = await customer(1_000, 500);
    const [one, two] = [await reserve(free, 100), await reserve(limited, 100)];
    for (const [index, token] of [free, limited].entries())
      expect(
        await store.run('grantLease', {
          id: `lease ${index}`,
          grow: false,
          tokenId: token.id,
          gateway: 'here',
          need: 10,
          want: 80,
          now,
        }),
      ).toMatchObject({ outcome: 'granted', amount: 80 });
    expect(await wallet(userId)).toMatchObject({ balance: 800, free: 640, reserved: 200 });
    await expectAudited();
    await store.run('removeGateway', { id: 'here', heartbeat: null });
    await store.run('releaseOrphans', { now, dueNow: now });
    expect(await wallet(userId)).toMatchObject({ balance: 1_000, free: 1_000, reserved: 0 });
    expect(await limitOf(limited)).toBe(500);
    await expectAudited();
    await settle(one, 70);
    await settle(two, 60);
    const call = (token: TokenRecord, lease: string) => ({
      requestId: nextId(),
      tokenId: token.id,
      userId: token.userId,
      model: 'm',
      unit: 'characters',
      lease,
      unlimited: token.unlimitedQuota,
      held: 30,
      charged: 30,
      returned: 0,
      endedAt: now,
      log: logEntry,
    });
    const calls = [call(free, 'lease 0'), call(limited, 'lease 1')];
    expect(await store.run('settleCalls', { calls })).toMatchObject({ gone: ['lease 0', 'lease 1'] });
    expect(await wallet(userId)).toMatchObject({ balance: 810, used: 190 });
    expect(await limitOf(limited)).toBe(410);
    expect((await logRows(store)).map(({ wallet: paid, unlimited }) => [paid, unlimited])).toEqual([
      [1, 1],
      [1, 0],
      [1, 1],
      [1, 0],
    ]);
    await expectAudited();
  });

  test('pays for leased calls, and has their debt', async () => {
    const { userId, free, limited } = await customer(1_000, 400);
    const lease = (id: string, token: TokenRecord, want: number) =>
      store.run('grantLease', { id, grow: false, tokenId: token.id, gateway: 'here', need: 1, want, now });
    // A quarter of the wallet at most, and of the limit.
    expect(await lease('free', free, 900)).toEqual({ outcome: 'granted', amount: 250, unlimited: true });
    expect(await lease('limited', limited, 900)).toEqual({ outcome: 'granted', amount: 100 });
    const call = (
      token: TokenRecord,
      id: string,
      cost: { charged: number; beyond?: number; returned: number },
    ) => ({
      requestId: nextId(),
      tokenId: token.id,
      userId: token.userId,
      model: 'm',
      unit: 'characters',
      lease: id,
      unlimited: token.unlimitedQuota,
      held: 50,
      ...cost,
      endedAt: now,
      log: logEntry,
    });
    const calls = [
      call(free, 'free', { charged: 200, beyond: 100, returned: 0 }),
      call(limited, 'limited', { charged: 60, returned: 40 }),
      call(free, 'free', { charged: 10, returned: 40 }),
    ];
    const { settlements } = await store.run('settleCalls', { calls });
    expect(settlements).toEqual([
      { charged: 300, debt: 0 },
      { charged: 60, debt: 0 },
      { charged: 10, debt: 0 },
    ]);
    expect(await wallet(userId)).toMatchObject({ balance: 630, free: 630, used: 370 });
    expect(await limitOf(limited)).toBe(340);
    expect(await balanceOf(store, free)).toEqual({ remain_quota: 0, used_quota: 310 });
    const dear = [call(limited, 'limited', { charged: 0, beyond: 700, returned: 0 })];
    expect(await store.run('settleCalls', { calls: dear })).toMatchObject({
      settlements: [{ charged: 630, debt: 70 }],
    });
    expect(await wallet(userId)).toMatchObject({ balance: 0, used: 1_000, debt: 70 });
    expect(await limitOf(limited)).toBe(0);
    await expectAudited();
  });

  test('moves reservations of leases to the ledger, and recalls the leases of all keys', async () => {
    const { userId, free, limited } = await customer(1_000, 400);
    for (const token of [free, limited])
      await store.run('grantLease', {
        id: `lease of ${token.id}`,
        grow: false,
        tokenId: token.id,
        gateway: 'here',
        need: 1,
        want: 60,
        now,
      });
    const exact = (token: TokenRecord, from: number, to: number, lease: string | null) =>
      store.run('reserveExactly', {
        lease,
        requestId: nextId(),
        tokenId: token.id,
        userId: token.userId,
        model: 'm',
        unit: 'characters',
        from,
        to,
        gateway: 'here',
        now,
      });
    expect(await exact(free, 60, 500, `lease of ${free.id}`)).toBe('extended');
    expect(await exact(limited, 60, 401, `lease of ${limited.id}`)).toBe('insufficient_quota');
    expect(await exact(limited, 60, 400, `lease of ${limited.id}`)).toBe('extended');
    // The call of a key without a limit began before the wallet was opened.
    expect(await exact(free, 40, 101, null)).toBe('insufficient_quota');
    expect(await exact(free, 40, 100, null)).toBe('extended');
    expect(await wallet(userId)).toMatchObject({ balance: 0, reserved: 1_000 });
    await expectAudited();
    expect(await store.run('recallWallet', { userId })).toBe(0);
    await grantTo(userId, 1_000);
    const refused = { grow: false, tokenId: free.id, gateway: 'here', need: 1, want: 60, now };
    expect(await store.run('grantLease', { id: 'another', ...refused })).toEqual({ outcome: 'scarce' });
  });

  test('balances after its log is deleted', async () => {
    const { userId, free, limited } = await customer(1_000, 400);
    await spend(free, 100);
    await settle(await reserve(limited, 400), 950);
    expect(await wallet(userId)).toMatchObject({ balance: 0, debt: 50 });
    now += 100 * day;
    const timers = new ManualTimers();
    timers.advance(now);
    const parts = { store, timers, logger: createLogger('silent'), clock: () => now, keepMs: day };
    expect(await new Retention(parts).run()).toBe(2);
    expect(await logRows(store)).toEqual([]);
    await expectAudited();
    expect(await audit()).toMatchObject({ wallets: { spent: 1_000, debt: 50 } });
  });

  test.each([
    ['update wallets set balance = balance + 1', /wallet of user \d+: has 901 left, which should be 900/],
    ['update wallets set used = used + 1', /has used 101, which should be 100/],
    ['update wallets set debt = debt + 1', /has a debt of 1, which should be 0/],
    ['update wallets set leased = leased + 1', /has leased 1, and its leases have 0/],
    ['update wallet_grants set amount = amount + 1', /which should be/],
    ['update request_log set wallet = 0', /has used 100, which should be 0/],
    ['update tokens set wallet_id = null', /does not draw from the wallet of its user/],
  ])('that was changed by hand is found: %s', async (statement, words) => {
    const { free } = await customer(1_000);
    await spend(free, 100);
    await expectAudited();
    await runStatement(testStore, statement);
    const problems = (await audit()).problems.map(({ subject, problem }) => `${subject}: ${problem}`);
    expect(problems.join('\n')).toMatch(words);
  });
});
