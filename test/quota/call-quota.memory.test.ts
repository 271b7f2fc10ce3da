import { beforeEach, expect, test, vi } from 'vitest';
import { CallQuota, type CallQuotaParts } from '../../server/quota/call-quota.ts';
import type { LeaseDraw, Ledger, Shortfall } from '../../server/quota/ledger.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import type { BookedCall } from '../../server/store/commands/booked-calls.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { logEntry } from '../store/books.ts';
import { ManualTimers } from '../support/manual-timers.ts';

// The store is on paper: what becomes of the books in a database is tried in call-holds.test.ts.

const unlimited = { id: 1, userId: 2, unlimited: true };
const limited = { id: 3, userId: 4 };
const now = 1_795_000_000_000;

let booked: BookedCall[];
/** The leases that were asked for, and what was wanted of each. */
let wishes: { id: string; want: number }[];
let shortfalls: Shortfall[];
let written: string[];
/** Rejects while the store is away, and whether it says nevertheless that it is there. */
let away: Error | undefined;
let answers: boolean;
let alreadyBooked: boolean;
/** What there is to lease, and the leases that were lost. */
let scarce: boolean;
/** Of each lease no more is granted. */
let most: number;
let gone: string[];
/** Balance of the key. */
let balance: number;
/** What went back of leases; null: all that was left. */
let returned: { id: string; amount: number | null }[];
/** The holds that were written down. */
let exact: { from: number; to: number }[];
let holds: CallQuota;

beforeEach(() => {
  balance = 0;
  [booked, wishes, shortfalls, written, away, alreadyBooked] = [[], [], [], [], undefined, false];
  [scarce, most, gone, answers] = [false, Number.MAX_SAFE_INTEGER, [], false];
  [returned, exact] = [[], []];
  const commands: Record<string, (args: never) => unknown> = {
    bookCalls: ({ calls }: { calls: BookedCall[] }) => {
      booked.push(...calls);
      const settlements = calls.map(({ charged, beyond = 0 }) =>
        alreadyBooked
          ? null
          : { charged: charged + Math.min(beyond, balance), debt: Math.max(0, beyond - balance) },
      );
      return { settlements, gone };
    },
    grantLease: ({ id, want }: { id: string; want: number }) => {
      wishes.push({ id, want });
      return scarce ? { outcome: 'scarce' } : { outcome: 'granted', amount: Math.min(want, most) };
    },
    returnLease: ({ id, amount }: { id: string; amount: number | null }) => {
      returned.push({ id, amount });
      return true;
    },
    holdExactly: ({ from, to }: { from: number; to: number }) => {
      exact.push({ from, to });
      return 'extended';
    },
  };
  const run = async (name: string, args: unknown) => {
    if (away !== undefined) throw away;
    return commands[name]?.(args as never);
  };
  const check = async () => {
    if (away !== undefined && !answers) throw away;
  };
  const note = (what: string, answer: unknown) => async () => {
    written.push(what);
    return answer;
  };
  const ledger = {
    reserve: note('reserve', 'reserved'),
    extend: note('extend', 'extended'),
    settle: note('settle', undefined),
    refund: note('refund', false),
  };
  const parts = {
    store: { run, check, over: new AbortController().signal },
    ledger: ledger as unknown as Ledger,
    gateway: 'here',
    membership: { isMember: true, epoch: 0 },
    logger: createLogger('silent'),
    timers: new ManualTimers(),
    clock: () => now,
    onShortfall: (shortfall: Shortfall) => void shortfalls.push(shortfall),
  };
  holds = new CallQuota(parts as unknown as CallQuotaParts);
});

const reserve = (requestId: string, amount: number, token: typeof limited = unlimited) =>
  holds.reserve({ requestId, token, model: 'm', unit: 'characters', amount });
const settle = (requestId: string, charged: number) => holds.settle({ requestId, charged, log: logEntry });

test('what is held is shown until it is written down, with the time of its end', async () => {
  expect(await reserve('r', 10)).toBe('reserved');
  const held = { requestId: 'r', tokenId: 1, unit: 'characters', amount: 10, unlimited: true };
  expect(holds.reservations).toEqual([held]);
  expect(await reserve('r', 11)).toBe('duplicate');
  const settled = settle('r', 4);
  expect(holds.reservations).toEqual([held]);
  expect(await settled).toEqual({ charged: 4, debt: 0 });
  await vi.waitFor(() => expect(holds.reservations).toEqual([]), { interval: 1 });
  expect(booked).toMatchObject([
    { requestId: 'r', userId: 2, lease: null, held: 10, charged: 4, endedAt: now },
  ]);
  // A second time it is the ledger's affair, which knows nothing of it.
  expect([await settle('r', 4), await holds.refund({ requestId: 'r' }), written]).toEqual([
    undefined,
    false,
    ['settle', 'refund'],
  ]);
  expect(await holds.extend({ requestId: 'r', from: 10, to: 20 })).toBe('extended');
  await reserve('twice', 10);
  expect(await Promise.all([settle('twice', 4), settle('twice', 4)])).toEqual([
    { charged: 4, debt: 0 },
    undefined,
  ]);
  expect(booked).toHaveLength(2);
});

test('an unlimited key is charged the whole cost', async () => {
  await reserve('more', 10);
  expect(await settle('more', 11)).toEqual({ charged: 11, debt: 0 });
  expect(booked).toMatchObject([{ lease: null, held: 10, charged: 11, beyond: 0 }]);
  expect(shortfalls).toEqual([]);
});

test('a cost beyond the reservation is charged to the lease, then to the balance, and the rest is a debt', async () => {
  await reserve('first', 10, limited);
  await reserve('a', 10, limited);
  await reserve('b', 10, limited);
  expect(wishes).toEqual([{ id: 'here.1', want: 40 }]);
  // Of the lease, 20 are not reserved.
  expect(await settle('a', 25)).toEqual({ charged: 25, debt: 0 });
  balance = 4;
  // And now 5 are.
  expect(await settle('b', 21)).toEqual({ charged: 19, debt: 2 });
  expect(booked).toMatchObject([
    { lease: 'here.1', held: 10, charged: 25, beyond: 0, returned: 0 },
    { lease: 'here.1', held: 10, charged: 15, beyond: 6, returned: 0 },
  ]);
  expect(shortfalls).toEqual([{ requestId: 'b', charged: 19, debt: 2 }]);
  // Nothing is left in it for another call.
  await reserve('next', 1, limited);
  expect(wishes).toHaveLength(2);
});

test('a cost beyond the reservation leaves the reservations of other calls in the lease alone', async () => {
  balance = 100;
  await reserve('first', 10, limited);
  await reserve('a', 30, limited);
  await reserve('b', 90, limited);
  expect(wishes).toEqual([{ id: 'here.1', want: 120 }]);
  expect(await settle('a', 35)).toEqual({ charged: 35, debt: 0 });
  expect(await settle('b', 90)).toEqual({ charged: 90, debt: 0 });
  expect(booked).toMatchObject([
    { charged: 30, beyond: 5 },
    { charged: 90, beyond: 0 },
  ]);
});

test('what was written down before is not settled or refunded again', async () => {
  alreadyBooked = true;
  await reserve('one', 10);
  expect(await settle('one', 11)).toBeUndefined();
  await reserve('two', 10);
  expect(await holds.refund({ requestId: 'two', log: logEntry })).toBe(false);
  expect(shortfalls).toEqual([]);
});

test('a refund without a log leaves no trace, and its request can be held again', async () => {
  await reserve('r', 10);
  expect(await holds.refund({ requestId: 'r' })).toBe(true);
  expect([holds.reservations, booked, written]).toEqual([[], [], []]);
  expect(await reserve('r', 10)).toBe('reserved');
});

test('nothing is held while the store is away, and nobody waits for it with a refund', async () => {
  await reserve('r', 10);
  away = new StoreUnavailable('away');
  await expect(reserve('other', 10)).rejects.toBe(away);
  expect(await holds.refund({ requestId: 'r', log: logEntry })).toBe(true);
  answers = true;
  await expect(reserve('other', 10)).rejects.toBe(away);
  expect(holds.reservations.map(({ requestId }) => requestId)).toEqual(['r']);
  away = undefined;
  await holds.stop();
  expect([booked.map(({ charged }) => charged), holds.reservations]).toEqual([[0], []]);
});

test('a settlement that fails is over all the same', async () => {
  await reserve('r', 10);
  away = new Error('broken');
  await expect(settle('r', 4)).rejects.toThrow('broken');
  await vi.waitFor(() => expect(holds.reservations).toEqual([]), { interval: 1 });
});

test.each([-1, 0.5, Number.NaN, 2 ** 53])('figures that are no quota are refused: %s', async (wrong) => {
  await expect(reserve('r', wrong)).rejects.toThrow(/^amount must be/);
  await reserve('r', 10);
  const extend = (from: number, to: number) =>
    holds.extend({ requestId: 'r', tokenId: 1, unlimited: true, from, to });
  await expect(extend(wrong, 20)).rejects.toThrow(/^from must be/);
  await expect(extend(10, wrong)).rejects.toThrow(/^to must be/);
  await expect(extend(10, 9)).rejects.toThrow('a reservation cannot be lowered from 10 to 9');
  expect(await extend(10, 10)).toBe('extended');
  await expect(settle('r', wrong)).rejects.toThrow(/^charged must be/);
  const taken = holds.withLease(3, wrong, Promise.resolve, () => 'drawn');
  await expect(taken).rejects.toThrow(/^amount must be/);
  expect(holds.reservations).toMatchObject([{ amount: 10 }]);
});

test('holds are raised in turn, and one that ends waits for what was asked before', async () => {
  await reserve('r', 10);
  const extend = (from: number, to: number) =>
    holds.extend({ requestId: 'r', tokenId: 1, unlimited: true, from, to });
  const raised = [extend(10, 20), extend(10, 15), extend(20, 30)];
  const settled = settle('r', 30);
  expect(await Promise.all(raised)).toEqual(['extended', 'not_open', 'extended']);
  const late = extend(30, 40);
  expect([await settled, await late]).toEqual([{ charged: 30, debt: 0 }, 'not_open']);
  expect(booked).toMatchObject([{ held: 30, charged: 30 }]);
});

test('of two that come at once under one name one is held, and of its lease no more is', async () => {
  // The second use of a key leases some of it.
  await reserve('first', 10, limited);
  expect(written).toEqual(['reserve']);
  expect((await Promise.all([reserve('r', 10, limited), reserve('r', 10, limited)])).toSorted()).toEqual([
    'duplicate',
    'reserved',
  ]);
  expect(await reserve('rest', 30, limited)).toBe('reserved');
  expect(wishes).toEqual([{ id: 'here.1', want: 40 }]);
  expect(holds.reservations).toMatchObject([{ requestId: 'r', unlimited: false }, { requestId: 'rest' }]);
  // And while it is held, nobody asks for more.
  expect(await reserve('r', 10, limited)).toBe('duplicate');
  expect(await settle('r', 4)).toEqual({ charged: 4, debt: 0 });
  expect(booked).toMatchObject([{ lease: 'here.1', held: 10, charged: 4, returned: 0 }]);
});

test('of two under one name the one that came second to be held has nothing of a lease', async () => {
  await reserve('first', 10, limited);
  scarce = true;
  const asked = reserve('r', 10, limited);
  expect(await reserve('r', 10)).toBe('reserved');
  expect(await asked).toBe('duplicate');
  expect(holds.reservations).toMatchObject([{ requestId: 'r', unlimited: true }]);
});

test('a lease in which nothing is held any more goes back as a whole', async () => {
  await reserve('first', 10, limited);
  await Promise.all([reserve('r', 10, limited), reserve('r', 10, limited)]);
  expect(
    await holds.withLease(
      3,
      5,
      async () => 'tried',
      () => 'unused',
    ),
  ).toBe('tried');
  await holds.refund({ requestId: 'r' });
  await holds.stop();
  expect(returned).toEqual([{ id: 'here.1', amount: null }]);
});

test('what others take away is leased three times, and then the balance is drawn on', async () => {
  await reserve('first', 10, limited);
  most = 1;
  expect(await reserve('r', 10, limited)).toBe('reserved');
  expect([wishes.length, written, holds.reservations]).toEqual([3, ['reserve', 'reserve'], []]);
  most = 37;
  await reserve('small', 10, limited);
  expect([wishes.length, holds.reservations.length]).toEqual([4, 1]);
  most = 1;
  expect(await holds.extend({ requestId: 'small', tokenId: 3, from: 10, to: 500 })).toBe('extended');
  expect([wishes.length, exact]).toEqual([7, [{ from: 10, to: 500 }]]);
});

test('what is taken out of a lease leaves it, what is not stays, and one that is gone is left alone', async () => {
  const take = (amount: number, drawn: LeaseDraw | Error) =>
    holds.withLease(
      3,
      amount,
      async (lease) => {
        if (drawn instanceof Error) throw drawn;
        return lease;
      },
      () => drawn as LeaseDraw,
    );
  expect(await take(10, 'drawn')).toBeUndefined();
  for (const drawn of ['unused', new Error('broken'), 'drawn'] as const) {
    const taken = take(30, drawn);
    if (drawn instanceof Error) await expect(taken).rejects.toBe(drawn);
    else expect(await taken).toBe('here.1');
  }
  expect(wishes).toEqual([{ id: 'here.1', want: 120 }]);
  // Of 120, 30 are taken.
  expect(await take(90, 'no_lease')).toBe('here.1');
  expect(await take(1, 'drawn')).toBe('here.2');
  expect(wishes.map(({ id }) => id)).toEqual(['here.1', 'here.2']);
});

test('a hold that outgrows its lease is raised in turn, and settled when that is done', async () => {
  await reserve('first', 10, limited);
  await reserve('r', 10, limited);
  const extend = (from: number, to: number) => holds.extend({ requestId: 'r', tokenId: 3, from, to });
  const raised = [extend(10, 50), extend(50, 60)];
  const settled = settle('r', 60);
  expect(await Promise.all(raised)).toEqual(['extended', 'extended']);
  expect(await settled).toEqual({ charged: 60, debt: 0 });
  expect(booked).toMatchObject([{ lease: 'here.1', held: 60, charged: 60 }]);
  expect(wishes.map(({ want }) => want)).toEqual([40, 160]);
});

test('a hold that grows bit by bit leases as much as its key has spent lately', async () => {
  await reserve('first', 10, limited);
  await reserve('r', 10, limited);
  for (let held = 10; held < 210; held += 10)
    expect(await holds.extend({ requestId: 'r', tokenId: 3, from: held, to: held + 10 })).toBe('extended');
  expect(wishes.map(({ want }) => want)).toEqual([40, 60, 120]);
});

test('a hold of which the key has lost its limit grows out of its lease, and takes nothing more of it', async () => {
  await reserve('first', 10, limited);
  await reserve('r', 10, limited);
  const extended = holds.extend({ requestId: 'r', tokenId: 3, unlimited: true, from: 10, to: 40 });
  expect(await extended).toBe('extended');
  // All of the lease is held by now.
  expect(wishes).toHaveLength(1);
  await reserve('next', 1, limited);
  expect(wishes).toHaveLength(2);
});

test('a hold without a limit stays where it is when it is not to grow', async () => {
  await reserve('r', 10);
  expect(await holds.extend({ requestId: 'r', tokenId: 1, from: 10, to: 10 })).toBe('extended');
  expect([holds.reservations.length, exact]).toEqual([1, []]);
});

test('a hold for which no more can be leased is the ledger’s from then on', async () => {
  await reserve('first', 10, limited);
  await reserve('r', 10, limited);
  scarce = true;
  const extend = (from: number, to: number) => holds.extend({ requestId: 'r', tokenId: 3, from, to });
  // It is raised once, though it is asked for twice.
  const raised = [extend(10, 50), extend(10, 50), extend(50, 60)];
  const settled = settle('r', 50);
  expect([...(await Promise.all(raised)), await settled]).toEqual([
    'extended',
    'not_open',
    'not_open',
    undefined,
  ]);
  expect(exact).toEqual([{ from: 10, to: 50 }]);
  expect([holds.reservations, booked, written]).toEqual([[], [], ['reserve', 'settle']]);
  // Of the 40 that were leased, the 10 have left with it.
  expect([await reserve('too much', 31, limited), written.at(-1)]).toEqual(['reserved', 'reserve']);
  await reserve('rest', 30, limited);
  expect(holds.reservations).toMatchObject([{ requestId: 'rest', amount: 30 }]);
});

test('what is given back can be held again, and a lease that was lost holds nothing more', async () => {
  await reserve('first', 10, limited);
  await reserve('r', 40, limited);
  expect(await holds.refund({ requestId: 'r' })).toBe(true);
  expect(await reserve('again', 160, limited)).toBe('reserved');
  expect(wishes).toEqual([{ id: 'here.1', want: 160 }]);
  gone = ['here.1'];
  expect(await settle('again', 1)).toEqual({ charged: 1, debt: 0 });
  await vi.waitFor(() => expect(holds.reservations).toEqual([]), { interval: 1 });
  await reserve('next', 1, limited);
  expect(wishes.map(({ id }) => id)).toEqual(['here.1', 'here.2']);
});
