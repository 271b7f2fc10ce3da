import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ReserveRequest } from '../../server/quota/ledger.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import { findToken } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, type TestStore } from '../store/engines.ts';
import {
  balanceOf,
  disableToken,
  expectBalanced,
  ledgerRows,
  logEntry,
  logRows,
  makeChildToken,
  makeToken,
} from '../store/ledger.ts';
import { eachTestOnOneStore } from '../store/one-store.ts';
import { runStatement } from '../store/raw-rows.ts';
import { QuotaGateway } from './quota-gateways.ts';

describe.each(engines)('reservations in memory on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  let here: QuotaGateway;
  let there: QuotaGateway;
  let number = 0;
  let other: Store | undefined;
  eachTestOnOneStore(engine, async (made) => {
    ({ testStore, store } = made);
    here = await QuotaGateway.start(store, 'here');
    // SQLite allows one gateway, but the quota layer works with two on one store.
    other ??= engine === 'postgres' ? await testStore.open() : store;
    there = await QuotaGateway.start(other, 'there');
  });
  afterEach(async () => {
    await Promise.all([here.calls.stop(), there.calls.stop()]);
    vi.restoreAllMocks();
  });

  const requestOf = (
    token: TokenRecord,
    amount: number,
    requestId = `r${(number += 1)}`,
  ): ReserveRequest => ({
    requestId,
    token,
    model: 'm',
    unit: 'characters',
    amount,
  });
  /** Makes a call that costs its whole reservation. */
  const spend = async (by: QuotaGateway, token: TokenRecord, amount: number, charged = amount) => {
    const request = requestOf(token, amount);
    const outcome = await by.calls.reserve(request);
    if (outcome === 'reserved')
      expect(await by.calls.settle({ requestId: request.requestId, charged, log: logEntry })).toBeDefined();
    return outcome;
  };
  /** Makes a gateway lease quota of the key, which the second call in a short time does. */
  const warm = async (by: QuotaGateway, token: TokenRecord, amount = 1) => {
    for (let call = 0; call < 2; call += 1) expect(await spend(by, token, amount)).toBe('reserved');
    return (await leases(token, by)).reduce((sum, { remaining }) => sum + remaining, 0);
  };
  const leases = (token: TokenRecord, by?: QuotaGateway) =>
    store.read
      .selectFrom('quota_leases')
      .selectAll()
      .where('token_id', '=', token.id)
      .$if(by !== undefined, (query) => query.where('gateway', '=', by?.id ?? ''))
      .execute();
  const expectConsistent = async (token: TokenRecord) => {
    await expectBalanced(store, token);
    expect(await store.report('auditLedger', null)).toMatchObject({ problems: [] });
  };
  const shown = async (token: TokenRecord) => (await findToken(store.read, token.id))?.remainQuota;

  test('reserves the first call in the ledger and the next ones in a lease, with one row each', async () => {
    const token = await makeToken(store, { remainQuota: 10_000 });
    const run = vi.spyOn(store, 'run');
    expect(await spend(here, token, 10, 4)).toBe('reserved');
    expect(run.mock.calls.map(([command]) => command)).toEqual(['reserve', 'settle']);
    for (let call = 0; call < 5; call += 1) expect(await spend(here, token, 10, 3)).toBe('reserved');
    expect(run.mock.calls.filter(([command]) => command === 'reserve')).toHaveLength(1);
    expect(await ledgerRows(store)).toEqual([]);
    expect(await logRows(store)).toHaveLength(6);
    expect((await logRows(store)).at(-1)).toMatchObject({
      request_id: `r${number}`,
      token_name: 'a key',
      quota: 3,
      reserved: 10,
      unlimited: 0,
      units: 9,
    });
    expect(await balanceOf(store, token)).toMatchObject({ used_quota: 19 });
    const [lease, ...others] = await leases(token);
    expect(others).toEqual([]);
    expect(lease).toMatchObject({ gateway: 'here', draining: 0 });
    expect(await shown(token)).toBe(10_000 - 19);
    await expectConsistent(token);
  });

  test('leases only a share of the balance and returns it at the end', async () => {
    const token = await makeToken(store, { remainQuota: 1_000 });
    await warm(here, token, 100);
    const [lease] = await leases(token);
    expect(lease?.granted).toBeLessThanOrEqual(250);
    await here.calls.stop();
    expect(await leases(token)).toEqual([]);
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 800, used_quota: 200 });
    await expectConsistent(token);
  });

  test('an unlimited key needs no lease and no row in the ledger', async () => {
    const token = await makeToken(store, { unlimitedQuota: true, remainQuota: 5 });
    const known = { ...token, unlimited: true };
    expect(await spend(here, known as TokenRecord, 1_000, 700)).toBe('reserved');
    const request = { ...requestOf(token, 10), token: known };
    expect(await here.calls.reserve(request)).toBe('reserved');
    const { requestId } = request;
    expect(await here.calls.extend({ requestId, tokenId: token.id, unlimited: true, from: 10, to: 50 })).toBe(
      'extended',
    );
    expect(await here.calls.refund({ requestId, log: { ...logEntry, status: 502 } })).toBe(true);
    expect(await ledgerRows(store)).toEqual([]);
    expect(await logRows(store)).toMatchObject([
      { quota: 700, reserved: 1_000, unlimited: 1 },
      { quota: 0, reserved: 50, unlimited: 1, status: 502 },
    ]);
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 5, used_quota: 700 });
    await expectConsistent(token);
  });

  test('a key that becomes limited is charged for all of a call that grows later', async () => {
    const token = await makeToken(store, { unlimitedQuota: true, remainQuota: 100 });
    const requests = [requestOf(token, 10), requestOf(token, 10)] as const;
    for (const request of requests)
      expect(await here.calls.reserve({ ...request, token: { ...token, unlimited: true } })).toBe('reserved');
    const change = { userId: 1, tokenId: 1, action: 'updateToken', now: 1 };
    await store.run('updateToken', { id: token.id, set: { unlimitedQuota: false }, change });
    const [{ requestId }, other] = requests;
    const extend = (to: number) => here.calls.extend({ requestId, tokenId: token.id, from: 10, to });
    expect(await extend(10)).toBe('extended');
    expect(await extend(101)).toBe('insufficient_quota');
    expect(await extend(100)).toBe('extended');
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 0, used_quota: 0 });
    expect(await here.calls.settle({ requestId, charged: 60, log: logEntry })).toBeDefined();
    // A call that does not grow is unaffected.
    expect(await here.calls.settle({ requestId: other.requestId, charged: 9, log: logEntry })).toBeDefined();
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 40, used_quota: 69 });
    expect(await store.report('auditLedger', null)).toMatchObject({ problems: [] });
  });

  test('reclaims quota leased by another gateway for a call that needs it', async () => {
    const token = await makeToken(store, { remainQuota: 1_000 });
    expect(await warm(there, token, 50)).toBeGreaterThan(0);
    expect(await spend(here, token, 900)).toBe('reserved');
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 0, used_quota: 1_000 });
    expect(await leases(token)).toEqual([]);
    await expectConsistent(token);
  });

  test('reclaims leased quota for a reservation that grows, in a lease or in the ledger', async () => {
    const token = await makeToken(store, { remainQuota: 1_000 });
    expect(await warm(there, token, 10)).toBeGreaterThan(0);
    const first = requestOf(token, 10);
    expect(await here.calls.reserve(first)).toBe('reserved');
    const second = requestOf(token, 10);
    expect(await here.calls.reserve(second)).toBe('reserved');
    expect(await leases(token, here)).toHaveLength(1);
    const extend = (requestId: string, from: number, to: number) =>
      here.calls.extend({ requestId, tokenId: token.id, from, to });
    expect(await extend(second.requestId, 10, 971)).toBe('insufficient_quota');
    expect(await extend(second.requestId, 10, 900)).toBe('extended');
    expect(await extend(first.requestId, 10, 81)).toBe('insufficient_quota');
    expect(await extend(first.requestId, 10, 80)).toBe('extended');
    for (const [{ requestId }, charged] of [
      [first, 80],
      [second, 899],
    ] as const)
      expect(await here.calls.settle({ requestId, charged, log: logEntry })).toBeDefined();
    expect(await shown(token)).toBe(1);
    await here.calls.stop();
    expect(await leases(token)).toEqual([]);
    await expectConsistent(token);
  });

  test('extends a reservation within its lease without a write', async () => {
    const token = await makeToken(store, { remainQuota: 100_000 });
    await warm(here, token, 100);
    const request = requestOf(token, 10);
    await here.calls.reserve(request);
    const { requestId } = request;
    const before = await leases(token);
    expect(await here.calls.extend({ requestId, tokenId: token.id, from: 10, to: 60 })).toBe('extended');
    expect(await here.calls.extend({ requestId, tokenId: token.id, from: 10, to: 60 })).toBe('not_open');
    expect(await leases(token)).toEqual(before);
    expect(await here.calls.settle({ requestId, charged: 60, log: logEntry })).toBeDefined();
    expect(await here.calls.settle({ requestId, charged: 60, log: logEntry })).toBeUndefined();
    expect(await here.calls.refund({ requestId, log: logEntry })).toBe(false);
    await expectConsistent(token);
  });

  test('refuses reservations while the store refuses settlements', async () => {
    let isFull = false;
    const full = new StoreUnavailable(new Error('full'));
    const run: Store['run'] = (name, args) =>
      isFull && name === 'settleCalls' ? Promise.reject(full) : store.run(name, args);
    const gateway = await QuotaGateway.start({ ...store, run }, 'full disk');
    try {
      const token = await makeToken(store, { remainQuota: 1_000 });
      await warm(gateway, token);
      const request = requestOf(token, 5);
      await gateway.calls.reserve(request);
      isFull = true;
      const settled = gateway.calls.settle({ requestId: request.requestId, charged: 5, log: logEntry });
      await vi.waitFor(() => expect(gateway.calls.check()).rejects.toBe(full));
      await expect(gateway.calls.reserve(requestOf(token, 5))).rejects.toBe(full);
      isFull = false;
      expect(await settled).toBeDefined();
      expect(await spend(gateway, token, 5)).toBe('reserved');
      await expectConsistent(token);
    } finally {
      await gateway.calls.stop();
    }
  });

  test('a request id is reserved once', async () => {
    const token = await makeToken(store, { remainQuota: 10_000 });
    await warm(here, token);
    const request = requestOf(token, 1);
    expect(await here.calls.reserve(request)).toBe('reserved');
    expect(await here.calls.reserve(request)).toBe('duplicate');
    expect(await here.calls.refund({ requestId: request.requestId })).toBe(true);
    expect(await logRows(store)).toHaveLength(2);
    await expectConsistent(token);
  });

  test.each(['disabled', 'deleted'] as const)('leases of a key return when it is %s', async (change) => {
    const token = await makeToken(store, { remainQuota: 10_000 });
    await warm(here, token, 10);
    await warm(there, token, 10);
    const running = requestOf(token, 5);
    expect(await here.calls.reserve(running)).toBe('reserved');
    if (change === 'disabled') await disableToken(store, token);
    else await store.run('deleteToken', { id: token.id, userId: token.userId, by: null, now: 1 });
    await here.calls.pollRecalls();
    await there.calls.pollRecalls();
    await expect.poll(() => leases(token, there)).toEqual([]);
    await expect.poll(() => leases(token, here)).toMatchObject([{ remaining: 5, draining: 1 }]);
    expect(await here.calls.reserve(requestOf(token, 5))).toBe('key_revoked');
    expect(
      await here.calls.settle({ requestId: running.requestId, charged: 2, log: logEntry }),
    ).toBeDefined();
    await expect.poll(() => leases(token)).toEqual([]);
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 9_958, used_quota: 42 });
    await expectConsistent(token);
  });

  test.each(['status = 2', 'deleted_at = 1'])(
    'leases of a key return after the raw statement %s',
    async (change) => {
      const token = await makeToken(store, { remainQuota: 10_000 });
      await warm(here, token, 10);
      await runStatement(testStore, `update tokens set ${change} where id = ${token.id}`);
      await here.calls.pollRecalls();
      await expect.poll(() => leases(token)).toEqual([]);
      expect(await balanceOf(store, token)).toEqual({ remain_quota: 9_980, used_quota: 20 });
      await expectConsistent(token);
    },
  );

  test('each reservation of a recalled lease returns its quota when it ends', async () => {
    const token = await makeToken(store, { remainQuota: 10_000 });
    await warm(here, token, 100);
    const requests = [10, 20, 30, 40].map((amount) => requestOf(token, amount));
    for (const request of requests) expect(await here.calls.reserve(request)).toBe('reserved');
    await disableToken(store, token);
    await here.calls.pollRecalls();
    const remaining = async () => (await leases(token)).map((lease) => lease.remaining);
    await expect.poll(remaining).toEqual([100]);
    const ids = requests.map(({ requestId }) => requestId);
    const [first = '', second = '', third = '', fourth = ''] = ids;
    expect(await here.calls.settle({ requestId: first, charged: 3, log: logEntry })).toBeDefined();
    await expect.poll(remaining).toEqual([90]);
    expect(await here.calls.refund({ requestId: second })).toBe(true);
    await expect.poll(remaining).toEqual([70]);
    expect(await here.calls.refund({ requestId: third, log: logEntry })).toBe(true);
    await expect.poll(remaining).toEqual([40]);
    expect(await here.calls.settle({ requestId: fourth, charged: 40, log: logEntry })).toBeDefined();
    await expect.poll(remaining).toEqual([]);
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 9_757, used_quota: 243 });
    await expectConsistent(token);
  });

  test('quota that becomes free during a return is returned before the gateway stops', async () => {
    const token = await makeToken(store, { remainQuota: 10_000 });
    const delay = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const slow: Store = {
      ...store,
      run: (name, args) => {
        if (name !== 'returnLease') return store.run(name, args);
        begun.resolve();
        return delay.promise.then(() => store.run(name, args));
      },
    };
    const third = await QuotaGateway.start(slow, 'third');
    await warm(third, token, 10);
    const request = requestOf(token, 5);
    expect(await third.calls.reserve(request)).toBe('reserved');
    await disableToken(store, token);
    await third.calls.pollRecalls();
    await begun.promise;
    expect(await third.calls.refund({ requestId: request.requestId })).toBe(true);
    const stopped = third.calls.stop();
    delay.resolve();
    await stopped;
    expect(await leases(token)).toEqual([]);
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 9_980, used_quota: 20 });
    await expectConsistent(token);
  });

  test('returned quota of a deleted key goes to its creator', async () => {
    const creator = await makeToken(store, { remainQuota: 10_000 });
    const made = await makeChildToken(store, creator, { remainQuota: 1_000 });
    await warm(here, made, 10);
    await store.run('deleteToken', { id: made.id, userId: made.userId, by: null, now: 1 });
    await expect.poll(() => leases(made)).toEqual([]);
    expect(await balanceOf(store, creator)).toMatchObject({ remain_quota: 9_980 });
    expect(await store.report('auditLedger', null)).toMatchObject({ problems: [], leased: 0 });
  });

  test('a negative grant reclaims leased quota', async () => {
    const token = await makeToken(store, { remainQuota: 1_000 });
    await warm(there, token, 10);
    const change = { userId: 1, tokenId: 1, action: 'grantQuota' as const, now: 1 };
    const order = { tokenId: token.id, amount: -980, reason: 'r', idempotencyKey: null, change };
    const give = () => store.run('grantQuota', order);
    const outcome = await here.calls.withReclaim(
      token.id,
      980,
      give,
      (answer) => answer.outcome === 'out_of_range',
    );
    expect(outcome).toMatchObject({ outcome: 'granted', grant: { left: 0 } });
    expect(await spend(there, token, 1)).toBe('insufficient_quota');
    expect(await store.report('auditLedger', null)).toMatchObject({ problems: [], granted: 20, spent: 20 });
  });

  test('an attempt is repeated with the balance before leased quota is recalled', async () => {
    const token = await makeToken(store, { remainQuota: 1_000 });
    const theirs = await warm(there, token, 10);
    for (const [refusals, tries, left] of [
      [1, 2, theirs],
      [9, 3, 0],
    ] as const) {
      let count = 0;
      const attempt = async () => (count += 1) <= refusals;
      expect(await here.calls.withReclaim(token.id, 100, attempt, (refused) => refused)).toBe(refusals > 1);
      expect(count).toBe(tries);
      expect((await leases(token)).reduce((sum, { remaining }) => sum + remaining, 0)).toBe(left);
    }
    let count = 0;
    await here.calls.withReclaim(
      token.id,
      9_999,
      async () => (count += 1),
      () => true,
    );
    expect(count).toBe(1);
  });

  describe('when their gateway', () => {
    test('is removed, its lease returns, less its settlements', async () => {
      const token = await makeToken(store, { remainQuota: 10_000 });
      await warm(there, token, 10);
      await there.calls.reserve(requestOf(token, 10));
      await there.removeAsLost();
      expect(await leases(token)).toEqual([]);
      expect(await balanceOf(store, token)).toEqual({ remain_quota: 9_980, used_quota: 20 });
      await expectConsistent(token);
    });

    test('was removed by mistake, its late settlements are charged to the balance, once', async () => {
      const token = await makeToken(store, { remainQuota: 1_000 });
      await warm(there, token, 10);
      const [one, two] = [requestOf(token, 10), requestOf(token, 10)];
      for (const request of [one, two]) expect(await there.calls.reserve(request)).toBe('reserved');
      await there.removeAsLost();
      expect(await spend(here, token, 965)).toBe('reserved');
      const settle = ({ requestId }: ReserveRequest) =>
        there.calls.settle({ requestId, charged: 9, log: logEntry });
      expect(await Promise.all([settle(one), settle(two)])).not.toContain(undefined);
      const late = (await logRows(store)).slice(-2).map(({ quota }) => quota);
      expect(late.toSorted((left, right) => left - right)).toEqual([6, 9]);
      expect(await balanceOf(store, token)).toEqual({ remain_quota: 0, used_quota: 1_000 });
      await expectConsistent(token);
      expect(await there.calls.reserve(requestOf(token, 1))).toBe('insufficient_quota');
    });

    test('was paused while another used up the balance, its calls become debts of the key', async () => {
      const token = await makeToken(store, { remainQuota: 1_000 });
      await warm(there, token, 10);
      const own = Array.from({ length: 24 }, () => requestOf(token, 10));
      for (const request of own) expect(await there.calls.reserve(request)).toBe('reserved');
      await there.removeAsLost();
      // Another gateway spends the whole balance.
      const { remain_quota: left } = await balanceOf(store, token);
      expect(await spend(here, token, left)).toBe('reserved');
      there.membership.epoch += 1;
      const settled = await Promise.all(
        own.map(({ requestId }) => there.calls.settle({ requestId, charged: 7, log: logEntry })),
      );
      expect(settled).toEqual(own.map(() => ({ charged: 0, debt: 7 })));
      // A repeated settlement has no effect.
      for (const { requestId } of own)
        expect(await there.calls.settle({ requestId, charged: 7, log: logEntry })).toBeUndefined();
      const debts = (await logRows(store)).slice(-24).map(({ quota, debt, status }) => [quota, debt, status]);
      expect(debts).toEqual(own.map(() => [0, 7, 200]));
      expect(await findToken(store.read, token.id)).toMatchObject({ remainQuota: 0, debt: 24 * 7 });
      const { problems, debt, debtors } = await store.report('auditLedger', null);
      expect([problems, debt, debtors.map(({ id }) => id)]).toEqual([[], 24 * 7, [token.id]]);
      expect(await here.calls.reserve(requestOf(token, 1))).toBe('insufficient_quota');
    });

    test('was removed by mistake, an extended reservation is reserved again in full', async () => {
      const token = await makeToken(store, { remainQuota: 1_000 });
      await warm(there, token, 10);
      const { requestId, ...request } = requestOf(token, 10);
      await there.calls.reserve({ requestId, ...request });
      await there.removeAsLost();
      const extend = (to: number) => there.calls.extend({ requestId, tokenId: token.id, from: 10, to });
      there.membership.epoch += 1;
      expect(await extend(981)).toBe('insufficient_quota');
      expect(await extend(980)).toBe('extended');
      expect(await there.calls.settle({ requestId, charged: 980, log: logEntry })).toBeDefined();
      expect(await balanceOf(store, token)).toEqual({ remain_quota: 0, used_quota: 1_000 });
      await expectConsistent(token);
    });

    test('may have been removed, it reserves in the ledger', async () => {
      const token = await makeToken(store, { remainQuota: 1_000 });
      await warm(there, token, 10);
      there.membership.isMember = false;
      const { requestId, ...request } = requestOf(token, 10);
      expect(await there.calls.reserve({ requestId, ...request })).toBe('reserved');
      expect(await ledgerRows(store)).toMatchObject([{ request_id: requestId }]);
      expect(await there.calls.settle({ requestId, charged: 10, log: logEntry })).toBeDefined();
      there.membership.isMember = true;
      there.membership.epoch += 1;
      expect(await spend(there, token, 10)).toBe('reserved');
      await there.calls.pollRecalls();
      await expect
        .poll(async () => (await leases(token, there)).every(({ id }) => id !== 'there.1'))
        .toBe(true);
      await expectConsistent(token);
    });
  });

  test('concurrent calls on several gateways spend the whole quota and never more', async () => {
    const token = await makeToken(store, { remainQuota: 5_000 });
    let spent = 0;
    const runs = [...new Set([store, other ?? store])].map((one) => vi.spyOn(one, 'run'));
    const customer = async (by: QuotaGateway) => {
      while ((await spend(by, token, 7)) === 'reserved') spent += 7;
    };
    await Promise.all(Array.from({ length: 24 }, (_, index) => customer(index % 3 === 0 ? there : here)));
    expect(spent).toBe(4_998);
    await expect.poll(() => leases(token)).toEqual([]);
    expect(await balanceOf(store, token)).toEqual({ remain_quota: 2, used_quota: 4_998 });
    // Most calls were reserved in memory.
    const reserves = runs.flatMap(({ mock }) =>
      mock.results.filter((_, index) => mock.calls[index]?.[0] === 'reserve').map(({ value }) => value),
    );
    const written = (await Promise.all(reserves)).filter((outcome) => outcome === 'reserved');
    expect(written.length).toBeLessThan(400);
    await expectConsistent(token);
  });
});
