import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LimitSync, type Respond, type SharedCounter } from '../../server/keys/limit-sync.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import { TestClock } from '../tasks/test-clock.ts';

interface NamedCounter extends SharedCounter {
  name: string;
}

const counter = (name: string): NamedCounter => ({ name, waiting: [], pending: [] });

let clock: TestClock;
let sync: LimitSync<NamedCounter>;
let logged: string[];
let cleanUps: number[];
/** Each synchronized batch with its time and number of requests. */
let batches: { at: number; names: string[]; requests: number }[];
/** Responds for the store. */
let synchronize: (batch: readonly NamedCounter[]) => Promise<number>;

const grantAll = async (batch: readonly NamedCounter[]) => {
  for (const one of batch) for (const respond of one.pending.splice(0)) respond(true);
  return 3;
};

class TestLimitSync extends LimitSync<NamedCounter> {
  protected override synchronize(batch: readonly NamedCounter[]): Promise<number> {
    const requests = batch.reduce((sum, one) => sum + one.pending.length, 0);
    batches.push({ at: clock.monotonic(), names: batch.map(({ name }) => name), requests });
    return synchronize(batch);
  }

  protected override acquireLocally(): boolean {
    return false;
  }

  protected override cleanUp(): void {
    cleanUps.push(clock.monotonic());
  }
}

beforeEach(() => {
  clock = new TestClock(0);
  [logged, cleanUps, batches] = [[], [], []];
  synchronize = grantAll;
  const write = (line: string) => void logged.push(line);
  sync = new TestLimitSync({ timers: clock, logger: pino({ level: 'error' }, { write }) }, 5_000);
  sync.start();
});
afterEach(() => sync.stop());

const settled = async () => {
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
};
const pass = (ms: number) => clock.advance(ms, settled);

/** Requests a unit. `granted` is undefined until the response. */
function request(counter: NamedCounter): { granted: boolean | undefined } {
  const seen: { granted: boolean | undefined } = { granted: undefined };
  void sync.request(counter).then((isGranted) => {
    seen.granted = isGranted;
  });
  return seen;
}

test('changes are synchronized in one batch, each counter once, when the first is due', async () => {
  await pass(100);
  const [one, two] = [counter('one'), counter('two')];
  expect([sync.gatewayCount, sync.isIsolated, sync.isScheduled(one)]).toEqual([undefined, false, false]);
  sync.schedule(one, 250);
  sync.schedule(two, 200);
  sync.schedule(one, 300);
  expect([sync.isScheduled(one), sync.isScheduled(two)]).toEqual([true, true]);
  await pass(199);
  expect(batches).toEqual([]);
  await pass(1);
  expect(batches).toEqual([{ at: 300, names: ['one', 'two'], requests: 0 }]);
  expect([sync.gatewayCount, sync.isScheduled(one), sync.isScheduled(two)]).toEqual([3, false, false]);
  await pass(4_000);
  expect(batches).toHaveLength(1);
});

test('a counter stays scheduled while it is synchronized', async () => {
  const reply = Promise.withResolvers<number>();
  synchronize = () => reply.promise;
  const one = counter('one');
  sync.schedule(one, 0);
  await pass(25);
  expect([batches.length, sync.isScheduled(one)]).toEqual([1, true]);
  sync.schedule(counter('much later'), 60_000);
  reply.resolve(2);
  await pass(2_000);
  // No request waits for the other counter.
  expect([sync.isScheduled(one), sync.gatewayCount, sync.isIsolated]).toEqual([false, 2, false]);
});

test('a request is part of the next synchronization, one during a synchronization of the one after', async () => {
  const reply = Promise.withResolvers<void>();
  synchronize = async (batch) => {
    await reply.promise;
    return grantAll(batch);
  };
  const one = counter('one');
  const first = [request(one), request(one)];
  await pass(0);
  const later = request(one);
  expect(batches).toEqual([{ at: 0, names: ['one'], requests: 2 }]);
  reply.resolve();
  await pass(24);
  expect([...first, later].map(({ granted }) => granted)).toEqual([true, true, undefined]);
  await pass(1);
  expect([batches.length, later.granted]).toEqual([2, true]);
  // No request waits, so the gateway does not become isolated.
  await pass(2_000);
  expect(sync.isIsolated).toBe(false);
});

test('at most 1,000 counters are synchronized at a time, the rest after the minimum gap', async () => {
  await pass(100);
  const many = Array.from({ length: 1_000 }, (_, index) => counter(`${index}`));
  for (const one of [...many, counter('last')]) sync.schedule(one, 0);
  await pass(25);
  expect(batches.map(({ at, names }) => [at, names.length])).toEqual([
    [100, 1_000],
    [125, 1],
  ]);
});

test('requests are decided locally while the store fails, and changes are synchronized afterwards', async () => {
  synchronize = () => Promise.reject(new Error('unexpected'));
  const [one, two] = [counter('one'), counter('two')];
  sync.schedule(two, 60_000);
  const waiting = request(one);
  await pass(25);
  expect([waiting.granted, sync.isIsolated, sync.gatewayCount]).toEqual([false, true, undefined]);
  expect([sync.isScheduled(one), sync.isScheduled(two)]).toEqual([true, true]);
  await pass(3_000);
  expect(batches.map(({ names }) => names)).toEqual(Array.from({ length: 4 }, () => ['two', 'one']));
  // Logged once for all failures in a row.
  expect(logged).toEqual([expect.stringContaining('limits could not be shared among gateways')]);
  synchronize = grantAll;
  await pass(1_000);
  expect([sync.isIsolated, sync.gatewayCount, sync.isScheduled(one)]).toEqual([false, 3, false]);
  synchronize = () => Promise.reject(new Error('again'));
  sync.schedule(one, 0);
  await pass(25);
  expect(logged).toHaveLength(2);
});

test('an unavailable store is not logged here', async () => {
  synchronize = () => Promise.reject(new StoreUnavailable(new Error('unavailable')));
  sync.schedule(counter('one'), 0);
  await pass(25);
  expect([sync.isIsolated, logged]).toEqual([true, []]);
});

test('a request waits at most 1 s for a store that does not respond', async () => {
  const reply = Promise.withResolvers<number>();
  synchronize = () => reply.promise;
  const one = counter('one');
  const first = request(one);
  await pass(500);
  const second = request(one);
  await pass(499);
  expect([first.granted, second.granted, sync.isIsolated]).toEqual([undefined, undefined, false]);
  await pass(1);
  expect([first.granted, second.granted, sync.isIsolated]).toEqual([false, false, true]);
  reply.resolve(4);
  await pass(25);
  expect([sync.isIsolated, sync.gatewayCount]).toEqual([false, 4]);
  await pass(2_000);
  expect(sync.isIsolated).toBe(false);
});

test('a request during a synchronization waits 1 s from its end', async () => {
  const reply = Promise.withResolvers<number>();
  synchronize = () => reply.promise;
  const one = counter('one');
  void request(one);
  await pass(500);
  const later = request(one);
  const never = Promise.withResolvers<number>();
  synchronize = () => never.promise;
  for (const respond of one.pending.splice(0)) respond(true);
  reply.resolve(1);
  await pass(999);
  expect([later.granted, sync.isIsolated]).toEqual([undefined, false]);
  await pass(1);
  expect([later.granted, sync.isIsolated]).toEqual([false, true]);
  never.resolve(1);
});

test('a response that arrives with the timeout counts', async () => {
  const reply = Promise.withResolvers<number>();
  synchronize = async (batch) => {
    await reply.promise;
    return grantAll(batch);
  };
  const waiting = request(counter('one'));
  await pass(999);
  // The process is paused: the alarm and the response arrive together.
  const paused = clock.advance(1, async () => {
    if (clock.monotonic() === 1_000) reply.resolve(1);
    await settled();
  });
  await paused;
  expect([waiting.granted, sync.isIsolated]).toEqual([true, false]);
});

test('the clean-up runs every 5 s, with or without changes', async () => {
  await pass(4_999);
  expect(cleanUps).toEqual([]);
  await pass(1);
  expect(cleanUps).toEqual([5_000]);
  await pass(4_900);
  sync.schedule(counter('one'), 0);
  await pass(99);
  expect(cleanUps).toHaveLength(1);
  sync.schedule(counter('two'), 1);
  await pass(1);
  expect(cleanUps).toEqual([5_000, 10_000]);
});

test('stop resolves without any change', () => sync.stop());

test('stop responds to all waiting requests', async () => {
  const reply = Promise.withResolvers<number>();
  synchronize = () => reply.promise;
  const one = counter('one');
  const responses: boolean[] = [];
  const note: Respond = (isGranted) => void responses.push(isGranted);
  void sync.request(one).then(note);
  await pass(25);
  void sync.request(one).then(note);
  const stopped = sync.stop();
  await settled();
  expect([responses, sync.isIsolated]).toEqual([[false, false], true]);
  reply.resolve(1);
  await stopped;
});
