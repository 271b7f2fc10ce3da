import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SharedConcurrency } from '../../server/keys/shared-concurrency.ts';
import { SocketLimiter } from '../../server/keys/socket-limiter.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, TestStore } from '../store/engines.ts';
import { FailingStore } from '../support/failing-store.ts';
import { TestClock } from '../tasks/test-clock.ts';

/** The socket limits of a gateway with its own clock. */
class Node {
  readonly id: string;
  readonly limiter: SocketLimiter;
  readonly open: (() => void)[] = [];
  readonly shared: SharedConcurrency;
  readonly store: FailingStore;
  readonly #time: TestClock;

  constructor(id: string, store: Store, socketsPerKey: number, ahead: number) {
    this.id = id;
    this.#time = new TestClock(1_795_000_000_000 + ahead);
    this.store = new FailingStore(store);
    const logger = pino({ level: 'silent' });
    this.shared = new SharedConcurrency({ store: this.store, gateway: id, timers: this.#time, logger });
    this.shared.start();
    this.limiter = new SocketLimiter({
      limits: () => ({ requestsPerMinute: 0, socketsPerKey }),
      shared: this.shared,
    });
  }

  /** Opens `count` sockets at once and returns how many were granted. */
  async connect(tokenId: number, count: number): Promise<number> {
    const acquired = Array.from({ length: count }, async () => {
      this.open.push(await this.limiter.acquire({ tokenId }));
    });
    return (await Promise.allSettled(acquired)).filter(({ status }) => status === 'fulfilled').length;
  }

  disconnect(count: number): void {
    for (const release of this.open.splice(0, count)) release();
  }

  live(ms: number): Promise<void> {
    return this.store.pass(this.#time, ms);
  }

  stop(): Promise<void> {
    this.store.mode = 'unavailable';
    return this.shared.stop();
  }
}

describe.runIf(engines.includes('postgres'))('a socket limit shared by gateways', () => {
  let testStore: TestStore;
  let store: Store;
  let keys = 0;
  let nodes: Node[] = [];
  beforeAll(async () => {
    testStore = await TestStore.make('postgres');
    store = await testStore.open();
  });
  afterAll(() => testStore.remove());

  const startNodes = async (max: number) => {
    keys += 1;
    nodes = [0, 7_200_000, -86_400_000].map(
      (ahead, index) => new Node(`${keys}.${index}`, store, max, ahead),
    );
    for (const { id } of nodes) await store.run('recordHeartbeat', { id, heartbeat: 0 });
    return keys;
  };
  const stopNodes = async () => {
    for (const node of nodes) {
      await node.stop();
      await store.run('removeGateway', { id: node.id, heartbeat: null });
    }
  };
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 250)
      await Promise.all(nodes.map((node) => node.live(Math.min(250, left))));
  };
  const connect = async (tokenId: number, counts: readonly number[]) => {
    const attempts = Promise.all(nodes.map((node, index) => node.connect(tokenId, counts[index] ?? 0)));
    for (let turn = 0; turn < 4; turn += 1) await pass(25);
    return (await attempts).reduce((sum, opened) => sum + opened, 0);
  };
  const open = () => nodes.reduce((sum, node) => sum + node.open.length, 0);

  test('is never exceeded and can be used up', async () => {
    const three = (most: number) => fc.tuple(fc.nat(most), fc.nat(most), fc.nat(most));
    const step = fc.record({ connects: three(6), ends: three(6), pause: fc.nat(600) });
    const scenario = fc.record({
      max: fc.integer({ min: 1, max: 12 }),
      steps: fc.array(step, { minLength: 5, maxLength: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ max, steps }) => {
        const key = await startNodes(max);
        for (const { connects, ends, pause } of steps) {
          await connect(key, connects);
          expect(open()).toBeLessThanOrEqual(max);
          for (const [index, node] of nodes.entries()) node.disconnect(ends[index] ?? 0);
          await pass(pause);
        }
        // 250 ms after a socket closes, every gateway can open another one.
        await pass(600);
        await connect(key, [max, 0, 0]);
        expect(open()).toBe(max);
        await stopNodes();
      }),
      { numRuns: 12, endOnFailure: true },
    );
  });

  test('the sockets of a removed gateway do not count, until it returns', async () => {
    const key = await startNodes(4);
    expect(await connect(key, [3, 0, 0])).toBe(3);
    const [gone] = nodes as [Node];
    await store.run('removeGateway', { id: gone.id, heartbeat: null });
    await pass(300);
    expect(await connect(key, [0, 9, 0])).toBe(4);
    await store.run('sweepAllowances', { now: null });
    expect(await connect(key, [0, 0, 9])).toBe(0);
    // The gateway returns with its sockets. New ones are refused until enough have closed.
    await store.run('recordHeartbeat', { id: gone.id, heartbeat: 9 });
    await pass(5_500);
    expect(open()).toBe(7);
    for (const node of nodes) node.disconnect(2);
    await pass(600);
    expect(open()).toBe(3);
    expect(await connect(key, [0, 0, 9])).toBe(1);
    await stopNodes();
  });

  test('a key at its limit is refused without a statement for each attempt', async () => {
    const key = await startNodes(2);
    expect(await connect(key, [2, 1, 1])).toBe(2);
    const before = nodes.map(({ store: { sent } }) => sent);
    expect(await connect(key, [500, 500, 500])).toBe(0);
    expect(nodes.map(({ store: { sent } }) => sent)).toEqual(before);
    await stopNodes();
  });

  test('each gateway opens its share while the store is unavailable', async () => {
    const key = await startNodes(6);
    expect(await connect(key, [1, 1, 1])).toBe(3);
    for (const node of nodes) node.store.mode = 'unavailable';
    const attempts = Promise.all(nodes.map((node) => node.connect(key, 9)));
    await pass(600);
    expect(await attempts).toEqual([1, 1, 1]);
    expect(await connect(key, [9, 9, 9])).toBe(0);
    for (const node of nodes) node.store.mode = 'available';
    await pass(5_500);
    for (const node of nodes) node.disconnect(2);
    await pass(600);
    expect(await connect(key, [9, 0, 0])).toBe(6);
    for (const node of nodes) node.disconnect(9);
    await pass(11_000);
    expect(nodes.map(({ shared }) => shared.counters.size)).toEqual([0, 0, 0]);
    const rows = store.read.selectFrom('limit_places').selectAll().where('subject', '=', `key ${key}`);
    expect(await rows.execute()).toEqual([]);
    await stopNodes();
  });
});
