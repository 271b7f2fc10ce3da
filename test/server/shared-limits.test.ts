import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RateLimiter } from '../../server/keys/rate-limiter.ts';
import { SharedRequests } from '../../server/keys/shared-requests.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, TestStore } from '../store/engines.ts';
import { FailingStore } from '../support/failing-store.ts';
import { TestClock } from '../tasks/test-clock.ts';

const minute = 60_000;

/** The request limits of a gateway with its own clock. */
class Node {
  readonly limiter: RateLimiter;
  readonly store: FailingStore;
  readonly #shared: SharedRequests;
  readonly #time: TestClock;

  /** `ahead`: difference between its clock and the database's, in milliseconds. */
  constructor(store: Store, clock: () => number, requestsPerMinute: number, ahead: number) {
    this.#time = new TestClock(clock() + ahead);
    this.store = new FailingStore(store);
    const logger = pino({ level: 'silent' });
    this.#shared = new SharedRequests({ store: this.store, timers: this.#time, logger, clock });
    this.#shared.start();
    const limits = () => ({ requestsPerMinute, socketsPerKey: 0 });
    this.limiter = new RateLimiter({ limits, timers: this.#time, shared: this.#shared });
  }

  /** Sends `count` requests at once and returns how many were accepted. */
  send(tokenId: number, count: number): Promise<number> {
    const sent = Array.from({ length: count }, async () => this.limiter.acquire({ tokenId }));
    return Promise.allSettled(sent).then(
      (outcomes) => outcomes.filter(({ status }) => status === 'fulfilled').length,
    );
  }

  live(ms: number): Promise<void> {
    return this.store.pass(this.#time, ms);
  }

  stop(): Promise<void> {
    this.store.mode = 'unavailable';
    return this.#shared.stop();
  }
}

describe.runIf(engines.includes('postgres'))('a request limit shared by gateways', () => {
  let testStore: TestStore;
  let store: Store;
  let now = 1_795_000_000_000;
  let keys = 0;
  let nodes: Node[] = [];
  beforeAll(async () => {
    testStore = await TestStore.make('postgres');
    store = await testStore.open();
    for (let index = 0; index < 3; index += 1)
      await store.run('recordHeartbeat', { id: `gateway ${index}`, heartbeat: 0 });
  });
  afterAll(() => testStore.remove());

  const startNodes = (perMinute: number) => {
    keys += 1;
    const skews = [0, 7_200_000, -86_400_000];
    nodes = skews.map((ahead) => new Node(store, () => now, perMinute, ahead));
    return keys;
  };
  const pass = async (ms: number) => {
    // Small steps while gateways have changes to report, so that all clocks advance together.
    for (let passed = 0; passed < ms; ) {
      const step = passed < 2_000 ? Math.min(250, ms - passed) : ms - passed;
      passed += step;
      now += step;
      await Promise.all(nodes.map((node) => node.live(step)));
    }
  };
  /** Sends to every gateway at once and waits for the responses. */
  const send = async (tokenId: number, counts: readonly number[]) => {
    const sent = Promise.all(nodes.map((node, index) => node.send(tokenId, counts[index] ?? 0)));
    await pass(25);
    await pass(25);
    await pass(25);
    return (await sent).reduce((sum, passed) => sum + passed, 0);
  };

  test('is enforced as by one gateway, within 5 %, for any sequence of requests', async () => {
    const step = fc.record({
      counts: fc.tuple(...[0, 1, 2].map(() => fc.oneof(fc.nat(3), fc.nat(60)))),
      pause: fc.oneof(fc.nat(400), fc.nat(20_000)),
    });
    const scenario = fc.record({
      perMinute: fc.constantFrom(2, 7, 60, 100, 600),
      steps: fc.array(step, { minLength: 5, maxLength: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ perMinute, steps }) => {
        const key = startNodes(perMinute);
        // Remaining requests of the same limit on a single gateway.
        let left: number = perMinute;
        let least: number = perMinute;
        for (const { counts, pause } of steps) {
          const before = now;
          const passed = await send(key, counts);
          const filled = Math.min(perMinute, left + ((now - before) * perMinute) / minute);
          left = filled - passed;
          least = Math.min(least, left);
          // A request is refused only when the limit is exhausted.
          const all = counts.reduce((sum, count) => sum + count, 0);
          if (passed < all) expect(left).toBeLessThan(1.01 + (75 * perMinute) / minute);
          await pass(pause);
          left = Math.min(perMinute, left + (pause * perMinute) / minute);
        }
        expect(least).toBeGreaterThanOrEqual(-0.05 * perMinute - 0.01);
        await Promise.all(nodes.map((node) => node.stop()));
      }),
      { numRuns: 12, endOnFailure: true },
    );
  });

  test('costs one statement every 250 ms under load, and none without requests', async () => {
    const key = startNodes(60_000);
    await send(key, [1, 1, 1]);
    await pass(1_000);
    const before = nodes.map(({ store: { sent } }) => sent);
    for (let turn = 0; turn < 8; turn += 1) {
      await Promise.all(nodes.map((node) => node.send(key, 100)));
      await pass(250);
    }
    const spent = nodes.map(({ store: { sent } }, index) => sent - (before[index] ?? 0));
    expect(Math.max(...spent)).toBeLessThanOrEqual(9);
    await pass(10_000);
    const after = nodes.map(({ store: { sent } }) => sent);
    await pass(10_000);
    expect(nodes.map(({ store: { sent } }) => sent)).toEqual(after);
    await Promise.all(nodes.map((node) => node.stop()));
  });

  test('a key far beyond its limit is refused without a statement', async () => {
    const key = startNodes(2);
    await send(key, [2, 1, 1]);
    await pass(1_000);
    const before = nodes.map(({ store: { sent } }) => sent);
    expect(await send(key, [1_000, 1_000, 1_000])).toBe(0);
    expect(nodes.map(({ store: { sent } }) => sent)).toEqual(before);
    await Promise.all(nodes.map((node) => node.stop()));
  });

  test.each(['unavailable', 'hanging'] as const)(
    'each gateway enforces its share while the store is %s, and reports afterwards',
    async (mode) => {
      const key = startNodes(60);
      expect(await send(key, [1, 1, 1])).toBe(3);
      await pass(minute);
      for (const node of nodes) node.store.mode = mode;
      const sent = Promise.all(nodes.map((node) => node.send(key, 50)));
      await pass(1_250);
      expect(await sent).toEqual([20, 20, 20]);
      await pass(3_000);
      expect(await Promise.all(nodes.map((node) => node.send(key, 50)))).toEqual([1, 1, 1]);
      if (mode === 'hanging') return;
      for (const node of nodes) node.store.mode = 'available';
      await pass(1_250);
      expect(await send(key, [50, 50, 50])).toBeLessThanOrEqual(2);
      await Promise.all(nodes.map((node) => node.stop()));
    },
  );

  test('a lost gateway leaves no rows behind', async () => {
    const key = startNodes(60);
    await send(key, [60, 0, 0]);
    const [vanished] = nodes.splice(0, 1);
    await vanished?.stop();
    await pass(minute);
    expect(await send(key, [60, 60])).toBe(60);
    await pass(4 * minute);
    const rows = store.read.selectFrom('allowances').select('subject');
    expect(await rows.where('subject', '=', `key ${key}`).execute()).toEqual([]);
    await Promise.all(nodes.map((node) => node.stop()));
  });

  test('gateways that draw on the same allowances concurrently never exceed them', async () => {
    const other = await testStore.open();
    const ids = Array.from({ length: 40 }, (_, index) => 1_000 + index);
    const given = new Map<string, number>();
    const draw = async (from: Store, turn: number) => {
      const order = turn % 2 === 0 ? ids : ids.toReversed();
      const draws = order.map((id) => ({ subject: `key ${id}`, max: 50, used: 0, wanted: 3 }));
      const { drawn, gateways } = await from.run('drawRequests', { draws, now });
      expect(gateways).toBe(3);
      for (const one of drawn) given.set(one.subject, (given.get(one.subject) ?? 0) + one.given);
    };
    await Promise.all(
      [store, other, store, other].map(async (from, index) => {
        for (let turn = 0; turn < 10; turn += 1) await draw(from, turn + index);
      }),
    );
    expect([...given.values()]).toEqual(ids.map(() => 50));
  });

  test('use beyond the remainder is owed, up to one minute of the limit', async () => {
    const draw = async (at: number, used: number) => {
      const draws = [{ subject: 'key 3_000', max: 60, used, wanted: 60 }];
      return (await store.run('drawRequests', { draws, now: at })).drawn[0];
    };
    expect(await draw(now, 0)).toEqual({ subject: 'key 3_000', given: 60, remaining: 0 });
    expect(await draw(now, 30)).toEqual({ subject: 'key 3_000', given: 0, remaining: -30 });
    expect(await draw(now + 30_000, 0)).toEqual({ subject: 'key 3_000', given: 0, remaining: 0 });
    expect(await draw(now + 40_000, 1_000)).toEqual({ subject: 'key 3_000', given: 0, remaining: -60 });
    expect((await draw(now + 101_000, 0))?.given).toBe(1);
  });

  test('setting the clock of the database back or forward blocks no key', async () => {
    const draw = async (at: number, wanted: number) => {
      const draws = [{ subject: 'key 2_000', max: 60, used: 0, wanted }];
      return (await store.run('drawRequests', { draws, now: at })).drawn[0]?.given;
    };
    expect(await draw(now, 60)).toBe(60);
    expect(await draw(now - 3_600_000, 60)).toBe(0);
    expect(await draw(now - 3_600_000 + 10_000, 60)).toBe(10);
    expect(await draw(now + 3_600_000, 100)).toBe(60);
  });
});
