import { beforeEach, expect, test, vi } from 'vitest';
import { CallQuota, type CallQuotaParts } from '../../server/quota/call-quota.ts';
import type { LeaseDraw, Ledger, Shortfall } from '../../server/quota/ledger.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import type { BookedCall } from '../../server/store/commands/booked-calls.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { logEntry } from '../store/ledger.ts';
import { ManualTimers } from '../support/manual-timers.ts';

// The store is a stub. call-quota.test.ts covers the database.

const unlimited = { id: 1, userId: 2, unlimited: true };
const limited = { id: 3, userId: 4 };
const now = 1_795_000_000_000;

let recorded: BookedCall[];
/** Requested leases. */
let leaseRequests: { id: string; want: number }[];
let shortfalls: Shortfall[];
/** Methods of the ledger that were called. */
let ledgerCalls: string[];
/** Failure of all commands, and whether reads succeed nevertheless. */
let failure: Error | undefined;
let isReadable: boolean;
let isDuplicate: boolean;
let isScarce: boolean;
/** Largest grant. */
let maxGrant: number;
/** Leases that no longer exist. */
let lost: string[];
let balance: number;
/** Returned amounts of leases. Null: all that was left. */
let returned: { id: string; amount: number | null }[];
/** Reservations that were moved to the ledger. */
let moved: { from: number; to: number }[];
let quota: CallQuota;

beforeEach(() => {
  balance = 0;
  [recorded, leaseRequests, shortfalls, ledgerCalls, failure, isDuplicate] = [
    [],
    [],
    [],
    [],
    undefined,
    false,
  ];
  [isScarce, maxGrant, lost, isReadable] = [false, Number.MAX_SAFE_INTEGER, [], false];
  [returned, moved] = [[], []];
  const commands: Record<string, (args: never) => unknown> = {
    settleCalls: ({ calls }: { calls: BookedCall[] }) => {
      recorded.push(...calls);
      const settlements = calls.map(({ charged, beyond = 0 }) =>
        isDuplicate
          ? null
          : { charged: charged + Math.min(beyond, balance), debt: Math.max(0, beyond - balance) },
      );
      return { settlements, gone: lost };
    },
    grantLease: ({ id, want }: { id: string; want: number }) => {
      leaseRequests.push({ id, want });
      return isScarce ? { outcome: 'scarce' } : { outcome: 'granted', amount: Math.min(want, maxGrant) };
    },
    returnLease: ({ id, amount }: { id: string; amount: number | null }) => {
      returned.push({ id, amount });
      return true;
    },
    reserveExactly: ({ from, to }: { from: number; to: number }) => {
      moved.push({ from, to });
      return 'extended';
    },
  };
  const run = async (name: string, args: unknown) => {
    if (failure !== undefined) throw failure;
    return commands[name]?.(args as never);
  };
  const check = async () => {
    if (failure !== undefined && !isReadable) throw failure;
  };
  const call = (method: string, result: unknown) => async () => {
    ledgerCalls.push(method);
    return result;
  };
  const ledger = {
    reserve: call('reserve', 'reserved'),
    extend: call('extend', 'extended'),
    settle: call('settle', undefined),
    refund: call('refund', false),
  };
  const parts = {
    store: { run, check, retrySignal: new AbortController().signal },
    ledger: ledger as unknown as Ledger,
    gateway: 'here',
    membership: { isMember: true, epoch: 0 },
    logger: createLogger('silent'),
    timers: new ManualTimers(),
    clock: () => now,
    onShortfall: (shortfall: Shortfall) => void shortfalls.push(shortfall),
  };
  quota = new CallQuota(parts as unknown as CallQuotaParts);
});

const reserve = (requestId: string, amount: number, token: typeof limited = unlimited) =>
  quota.reserve({ requestId, token, model: 'm', unit: 'characters', amount });
const settle = (requestId: string, charged: number) => quota.settle({ requestId, charged, log: logEntry });

test('lists a reservation until its settlement is on disk', async () => {
  expect(await reserve('r', 10)).toBe('reserved');
  const listed = { requestId: 'r', tokenId: 1, unit: 'characters', amount: 10, unlimited: true };
  expect(quota.reservations).toEqual([listed]);
  expect(await reserve('r', 11)).toBe('duplicate');
  const settled = settle('r', 4);
  expect(quota.reservations).toEqual([listed]);
  expect(await settled).toEqual({ charged: 4, debt: 0 });
  await vi.waitFor(() => expect(quota.reservations).toEqual([]), { interval: 1 });
  expect(recorded).toMatchObject([
    { requestId: 'r', userId: 2, lease: null, held: 10, charged: 4, endedAt: now },
  ]);
  // A repeated settlement goes to the ledger, which does not know the reservation.
  expect([await settle('r', 4), await quota.refund({ requestId: 'r' }), ledgerCalls]).toEqual([
    undefined,
    false,
    ['settle', 'refund'],
  ]);
  expect(await quota.extend({ requestId: 'r', from: 10, to: 20 })).toBe('extended');
  await reserve('twice', 10);
  expect(await Promise.all([settle('twice', 4), settle('twice', 4)])).toEqual([
    { charged: 4, debt: 0 },
    undefined,
  ]);
  expect(recorded).toHaveLength(2);
});

test('charges an unlimited key the whole cost', async () => {
  await reserve('more', 10);
  expect(await settle('more', 11)).toEqual({ charged: 11, debt: 0 });
  expect(recorded).toMatchObject([{ lease: null, held: 10, charged: 11, beyond: 0 }]);
  expect(shortfalls).toEqual([]);
});

test('a cost beyond the reservation is charged to the lease, then to the balance, and the rest is a debt', async () => {
  await reserve('first', 10, limited);
  await reserve('a', 10, limited);
  await reserve('b', 10, limited);
  expect(leaseRequests).toEqual([{ id: 'here.1', want: 40 }]);
  // 20 of the lease are unreserved.
  expect(await settle('a', 25)).toEqual({ charged: 25, debt: 0 });
  balance = 4;
  // 5 are unreserved now.
  expect(await settle('b', 21)).toEqual({ charged: 19, debt: 2 });
  expect(recorded).toMatchObject([
    { lease: 'here.1', held: 10, charged: 25, beyond: 0, returned: 0 },
    { lease: 'here.1', held: 10, charged: 15, beyond: 6, returned: 0 },
  ]);
  expect(shortfalls).toEqual([{ requestId: 'b', charged: 19, debt: 2 }]);
  // The lease is used up.
  await reserve('next', 1, limited);
  expect(leaseRequests).toHaveLength(2);
});

test('a cost beyond the reservation leaves the reservations of other calls in the lease alone', async () => {
  balance = 100;
  await reserve('first', 10, limited);
  await reserve('a', 30, limited);
  await reserve('b', 90, limited);
  expect(leaseRequests).toEqual([{ id: 'here.1', want: 120 }]);
  expect(await settle('a', 35)).toEqual({ charged: 35, debt: 0 });
  expect(await settle('b', 90)).toEqual({ charged: 90, debt: 0 });
  expect(recorded).toMatchObject([
    { charged: 30, beyond: 5 },
    { charged: 90, beyond: 0 },
  ]);
});

test('does not settle or refund a recorded call again', async () => {
  isDuplicate = true;
  await reserve('one', 10);
  expect(await settle('one', 11)).toBeUndefined();
  await reserve('two', 10);
  expect(await quota.refund({ requestId: 'two', log: logEntry })).toBe(false);
  expect(shortfalls).toEqual([]);
});

test('a refund without a log leaves no trace, and its request can be reserved again', async () => {
  await reserve('r', 10);
  expect(await quota.refund({ requestId: 'r' })).toBe(true);
  expect([quota.reservations, recorded, ledgerCalls]).toEqual([[], [], []]);
  expect(await reserve('r', 10)).toBe('reserved');
});

test('refuses reservations while the store is unavailable, and does not delay refunds', async () => {
  await reserve('r', 10);
  failure = new StoreUnavailable('unavailable');
  await expect(reserve('other', 10)).rejects.toBe(failure);
  expect(await quota.refund({ requestId: 'r', log: logEntry })).toBe(true);
  isReadable = true;
  await expect(reserve('other', 10)).rejects.toBe(failure);
  expect(quota.reservations.map(({ requestId }) => requestId)).toEqual(['r']);
  failure = undefined;
  await quota.stop();
  expect([recorded.map(({ charged }) => charged), quota.reservations]).toEqual([[0], []]);
});

test('a failed settlement closes the reservation', async () => {
  await reserve('r', 10);
  failure = new Error('broken');
  await expect(settle('r', 4)).rejects.toThrow('broken');
  await vi.waitFor(() => expect(quota.reservations).toEqual([]), { interval: 1 });
});

test.each([-1, 0.5, Number.NaN, 2 ** 53])('refuses an invalid amount of quota: %s', async (wrong) => {
  await expect(reserve('r', wrong)).rejects.toThrow(/^amount must be/);
  await reserve('r', 10);
  const extend = (from: number, to: number) =>
    quota.extend({ requestId: 'r', tokenId: 1, unlimited: true, from, to });
  await expect(extend(wrong, 20)).rejects.toThrow(/^from must be/);
  await expect(extend(10, wrong)).rejects.toThrow(/^to must be/);
  await expect(extend(10, 9)).rejects.toThrow('a reservation cannot be lowered from 10 to 9');
  expect(await extend(10, 10)).toBe('extended');
  await expect(settle('r', wrong)).rejects.toThrow(/^charged must be/);
  const drawn = quota.withLease(3, wrong, Promise.resolve, () => 'drawn');
  await expect(drawn).rejects.toThrow(/^amount must be/);
  expect(quota.reservations).toMatchObject([{ amount: 10 }]);
});

test('extends a reservation one request at a time, and settles it afterwards', async () => {
  await reserve('r', 10);
  const extend = (from: number, to: number) =>
    quota.extend({ requestId: 'r', tokenId: 1, unlimited: true, from, to });
  const extended = [extend(10, 20), extend(10, 15), extend(20, 30)];
  const settled = settle('r', 30);
  expect(await Promise.all(extended)).toEqual(['extended', 'not_open', 'extended']);
  const late = extend(30, 40);
  expect([await settled, await late]).toEqual([{ charged: 30, debt: 0 }, 'not_open']);
  expect(recorded).toMatchObject([{ held: 30, charged: 30 }]);
});

test('reserves one of two concurrent requests with the same id', async () => {
  // The second use of a key leases quota.
  await reserve('first', 10, limited);
  expect(ledgerCalls).toEqual(['reserve']);
  expect((await Promise.all([reserve('r', 10, limited), reserve('r', 10, limited)])).toSorted()).toEqual([
    'duplicate',
    'reserved',
  ]);
  expect(await reserve('rest', 30, limited)).toBe('reserved');
  expect(leaseRequests).toEqual([{ id: 'here.1', want: 40 }]);
  expect(quota.reservations).toMatchObject([{ requestId: 'r', unlimited: false }, { requestId: 'rest' }]);
  // A duplicate does not grow the lease.
  expect(await reserve('r', 10, limited)).toBe('duplicate');
  expect(await settle('r', 4)).toEqual({ charged: 4, debt: 0 });
  expect(recorded).toMatchObject([{ lease: 'here.1', held: 10, charged: 4, returned: 0 }]);
});

test('a duplicate that waits for a lease reserves nothing in it', async () => {
  await reserve('first', 10, limited);
  isScarce = true;
  const waiting = reserve('r', 10, limited);
  expect(await reserve('r', 10)).toBe('reserved');
  expect(await waiting).toBe('duplicate');
  expect(quota.reservations).toMatchObject([{ requestId: 'r', unlimited: true }]);
});

test('returns a lease as a whole after its last reservation', async () => {
  await reserve('first', 10, limited);
  await Promise.all([reserve('r', 10, limited), reserve('r', 10, limited)]);
  expect(
    await quota.withLease(
      3,
      5,
      async () => 'attempted',
      () => 'unused',
    ),
  ).toBe('attempted');
  await quota.refund({ requestId: 'r' });
  await quota.stop();
  expect(returned).toEqual([{ id: 'here.1', amount: null }]);
});

test('grows a lease up to three times for a call, then uses the balance', async () => {
  await reserve('first', 10, limited);
  maxGrant = 1;
  expect(await reserve('r', 10, limited)).toBe('reserved');
  expect([leaseRequests.length, ledgerCalls, quota.reservations]).toEqual([3, ['reserve', 'reserve'], []]);
  maxGrant = 37;
  await reserve('small', 10, limited);
  expect([leaseRequests.length, quota.reservations.length]).toEqual([4, 1]);
  maxGrant = 1;
  expect(await quota.extend({ requestId: 'small', tokenId: 3, from: 10, to: 500 })).toBe('extended');
  expect([leaseRequests.length, moved]).toEqual([7, [{ from: 10, to: 500 }]]);
});

test('withLease draws from the lease, cancels the reservation or discards a lost lease', async () => {
  const draw = (amount: number, outcome: LeaseDraw | Error) =>
    quota.withLease(
      3,
      amount,
      async (lease) => {
        if (outcome instanceof Error) throw outcome;
        return lease;
      },
      () => outcome as LeaseDraw,
    );
  expect(await draw(10, 'drawn')).toBeUndefined();
  for (const outcome of ['unused', new Error('broken'), 'drawn'] as const) {
    const drawn = draw(30, outcome);
    if (outcome instanceof Error) await expect(drawn).rejects.toBe(outcome);
    else expect(await drawn).toBe('here.1');
  }
  expect(leaseRequests).toEqual([{ id: 'here.1', want: 120 }]);
  // 30 of 120 are drawn.
  expect(await draw(90, 'no_lease')).toBe('here.1');
  expect(await draw(1, 'drawn')).toBe('here.2');
  expect(leaseRequests.map(({ id }) => id)).toEqual(['here.1', 'here.2']);
});

test('grows the lease of a reservation that outgrows it, and settles afterwards', async () => {
  await reserve('first', 10, limited);
  await reserve('r', 10, limited);
  const extend = (from: number, to: number) => quota.extend({ requestId: 'r', tokenId: 3, from, to });
  const extended = [extend(10, 50), extend(50, 60)];
  const settled = settle('r', 60);
  expect(await Promise.all(extended)).toEqual(['extended', 'extended']);
  expect(await settled).toEqual({ charged: 60, debt: 0 });
  expect(recorded).toMatchObject([{ lease: 'here.1', held: 60, charged: 60 }]);
  expect(leaseRequests.map(({ want }) => want)).toEqual([40, 160]);
});

test('a reservation that grows in steps leases as much as its key has spent recently', async () => {
  await reserve('first', 10, limited);
  await reserve('r', 10, limited);
  for (let from = 10; from < 210; from += 10)
    expect(await quota.extend({ requestId: 'r', tokenId: 3, from, to: from + 10 })).toBe('extended');
  expect(leaseRequests.map(({ want }) => want)).toEqual([40, 60, 120]);
});

test('a reservation whose key becomes unlimited grows without its lease', async () => {
  await reserve('first', 10, limited);
  await reserve('r', 10, limited);
  const extended = quota.extend({ requestId: 'r', tokenId: 3, unlimited: true, from: 10, to: 40 });
  expect(await extended).toBe('extended');
  // The whole lease is reserved now.
  expect(leaseRequests).toHaveLength(1);
  await reserve('next', 1, limited);
  expect(leaseRequests).toHaveLength(2);
});

test('an unlimited reservation that does not grow stays in memory', async () => {
  await reserve('r', 10);
  expect(await quota.extend({ requestId: 'r', tokenId: 1, from: 10, to: 10 })).toBe('extended');
  expect([quota.reservations.length, moved]).toEqual([1, []]);
});

test('moves a reservation to the ledger when its lease cannot grow', async () => {
  await reserve('first', 10, limited);
  await reserve('r', 10, limited);
  isScarce = true;
  const extend = (from: number, to: number) => quota.extend({ requestId: 'r', tokenId: 3, from, to });
  // The same extension applies once.
  const extended = [extend(10, 50), extend(10, 50), extend(50, 60)];
  const settled = settle('r', 50);
  expect([...(await Promise.all(extended)), await settled]).toEqual([
    'extended',
    'not_open',
    'not_open',
    undefined,
  ]);
  expect(moved).toEqual([{ from: 10, to: 50 }]);
  expect([quota.reservations, recorded, ledgerCalls]).toEqual([[], [], ['reserve', 'settle']]);
  // 30 of the leased 40 remain.
  expect([await reserve('too much', 31, limited), ledgerCalls.at(-1)]).toEqual(['reserved', 'reserve']);
  await reserve('rest', 30, limited);
  expect(quota.reservations).toMatchObject([{ requestId: 'rest', amount: 30 }]);
});

test('refunded quota can be reserved again, and a lost lease is not used again', async () => {
  await reserve('first', 10, limited);
  await reserve('r', 40, limited);
  expect(await quota.refund({ requestId: 'r' })).toBe(true);
  expect(await reserve('again', 160, limited)).toBe('reserved');
  expect(leaseRequests).toEqual([{ id: 'here.1', want: 160 }]);
  lost = ['here.1'];
  expect(await settle('again', 1)).toEqual({ charged: 1, debt: 0 });
  await vi.waitFor(() => expect(quota.reservations).toEqual([]), { interval: 1 });
  await reserve('next', 1, limited);
  expect(leaseRequests.map(({ id }) => id)).toEqual(['here.1', 'here.2']);
});
