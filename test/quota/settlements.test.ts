import { beforeEach, expect, test, vi } from 'vitest';
import { yieldToEventLoop } from '../../server/lib/timers.ts';
import { Settlements } from '../../server/quota/settlements.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import type { BookedCall, BookedCalls } from '../../server/store/commands/booked-calls.ts';
import type { Store } from '../../server/store/store.ts';
import { logEntry } from '../store/ledger.ts';

const call = (requestId: string, change: Partial<BookedCall> = {}): BookedCall => ({
  requestId,
  tokenId: 1,
  userId: 1,
  model: 'voxa-v1',
  unit: 'characters',
  lease: 'lease 1',
  held: 9,
  charged: 5,
  returned: 0,
  endedAt: 7,
  log: logEntry,
  ...change,
});

let batches: string[][];
let answer: (calls: readonly BookedCall[]) => BookedCalls | Promise<BookedCalls>;
let over: AbortController;
let settlements: Settlements;

const allCharged = (calls: readonly BookedCall[]): BookedCalls => ({
  settlements: calls.map(({ charged }) => ({ charged, debt: 0 })),
  gone: [],
});

beforeEach(() => {
  [batches, answer, over] = [[], allCharged, new AbortController()];
  const run = async (name: string, { calls }: { calls: readonly BookedCall[] }) => {
    expect(name).toBe('settleCalls');
    batches.push(calls.map(({ requestId }) => requestId));
    return answer(calls);
  };
  const store = { run: run as unknown as Store['run'], retrySignal: over.signal };
  settlements = new Settlements(store);
});

const isSettled = (promise: Promise<unknown>) =>
  Promise.race([
    promise.then(
      () => true,
      () => true,
    ),
    Promise.resolve(false),
  ]);

const turns = async () => {
  for (let turn = 0; turn < 3; turn += 1) await yieldToEventLoop();
};

test('each call receives its charge and whether its lease is gone', async () => {
  const three = { charged: 3, debt: 0 };
  answer = () => ({ settlements: [{ charged: 4, debt: 1 }, null, three], gone: ['lease 2'] });
  const booked = [
    settlements.book(call('a')),
    settlements.book(call('b', { lease: 'lease 2' })),
    settlements.book(call('c', { lease: null })),
  ];
  expect(await Promise.all(booked)).toEqual([
    { settlement: { charged: 4, debt: 1 }, leaseGone: false },
    { settlement: null, leaseGone: true },
    { settlement: three, leaseGone: false },
  ]);
  expect(batches).toEqual([['a', 'b', 'c']]);
});

test('calls of one turn of the event loop are written in one batch', async () => {
  const first = settlements.book(call('a'));
  for (let step = 0; step < 9; step += 1) await Promise.resolve();
  void settlements.book(call('b'));
  await first;
  expect(batches).toEqual([['a', 'b']]);
});

test('calls that arrive during a write form the next batch', async () => {
  const first = Promise.withResolvers<void>();
  answer = async (calls) => {
    if (batches.length === 1) await first.promise;
    return allCharged(calls);
  };
  const one = settlements.book(call('a'));
  await vi.waitFor(() => expect(batches).toHaveLength(1));
  const two = [settlements.book(call('b')), settlements.book(call('c'))];
  const idle = settlements.idle();
  expect(await isSettled(idle)).toBe(false);
  first.resolve();
  await Promise.all([one, ...two]);
  await idle;
  expect(batches).toEqual([['a'], ['b', 'c']]);
  // Nothing runs any more, so the next call starts a new batch.
  await settlements.idle();
  await settlements.book(call('d'));
  expect(batches).toHaveLength(3);
});

test('after a batch of six or more, calls of the next millisecond form one batch', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    const many = (count: number) =>
      Promise.all(Array.from({ length: count }, () => settlements.book(call('many'))));
    await many(5);
    void settlements.book(call('a'));
    await turns();
    expect(batches.at(-1)).toEqual(['a']);
    await many(6);
    void settlements.book(call('b'));
    await turns();
    expect(batches).toHaveLength(3);
    void settlements.book(call('c'));
    vi.advanceTimersByTime(1);
    await settlements.idle();
    expect(batches.at(-1)).toEqual(['b', 'c']);
  } finally {
    vi.useRealTimers();
  }
});

test('a batch has at most 500 calls', async () => {
  const calls = Array.from({ length: 501 }, (_, index) => settlements.book(call(`${index}`)));
  await settlements.idle();
  expect(batches.map(({ length }) => length)).toEqual([500, 1]);
  expect(await calls.at(-1)).toEqual({ settlement: { charged: 5, debt: 0 }, leaseGone: false });
});

test('a call that the store refuses does not fail other calls of its batch', async () => {
  answer = (calls) => {
    if (calls.some(({ requestId }) => requestId === 'bad')) throw new RangeError('not this one');
    return allCharged(calls);
  };
  const [good, bad] = [settlements.book(call('good')), settlements.book(call('bad'))];
  await expect(bad).rejects.toThrow('not this one');
  expect(await good).toEqual({ settlement: { charged: 5, debt: 0 }, leaseGone: false });
  expect(batches).toEqual([['good', 'bad'], ['good'], ['bad']]);
});

test('calls wait for an unavailable store, which their callback reports', async () => {
  const away = new StoreUnavailable(new Error('away'));
  let isAway = true;
  answer = (calls) => {
    if (isAway) throw away;
    return { settlements: calls.map(() => ({ charged: 2, debt: 0 })), gone: ['lease 1'] };
  };
  const first = settlements.book(call('first'));
  const unavailable = Promise.withResolvers<void>();
  const second = settlements.book(call('second'), unavailable.resolve);
  await unavailable.promise;
  expect([await isSettled(first), await isSettled(second)]).toEqual([false, false]);
  expect(settlements.refusal).toBe(away);
  isAway = false;
  const late = { settlement: { charged: 2, debt: 0 }, leaseGone: true };
  expect(await Promise.all([first, second])).toEqual([late, late]);
  expect(settlements.refusal).toBeUndefined();
});

test('a call that fails after an outage does not block later reservations', async () => {
  answer = () => {
    if (batches.length === 1) throw new StoreUnavailable(new Error('away'));
    throw new TypeError('at fault');
  };
  await expect(settlements.book(call('a'))).rejects.toThrow('at fault');
  expect([batches, settlements.refusal]).toEqual([[['a'], ['a']], undefined]);
});

test('calls reject with StoreUnavailable when the gateway stops waiting', async () => {
  answer = () => {
    throw new StoreUnavailable(new Error('away'));
  };
  over.abort();
  const both = [settlements.book(call('a')), settlements.book(call('b'))];
  for (const written of both) await expect(written).rejects.toThrow(StoreUnavailable);
  // One write for all: the store would refuse each of them alone, too.
  expect(batches).toEqual([['a', 'b']]);
});
