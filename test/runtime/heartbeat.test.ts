import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Heartbeat } from '../../server/quota/heartbeat.ts';
import { Ledger } from '../../server/quota/ledger.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { type Engine, engines, TestStore } from '../store/engines.ts';
import { balanceOf, expectBalanced, ledgerRows, logEntry, makeToken } from '../store/ledger.ts';
import { TestClock } from '../tasks/test-clock.ts';

const second = 1_000;
const startQuota = 100;

/** The heartbeat and ledger of a gateway with its own clock. While its clock stands still, the process is paused. */
class Node {
  readonly id: string;
  readonly ledger: Ledger;
  readonly heartbeat: Heartbeat;
  readonly #time = new TestClock(0);
  readonly #busy = new Set<Promise<unknown>>();
  /** Whether the store is unavailable to this gateway. */
  isCutOff = false;

  constructor(id: string, store: Store) {
    this.id = id;
    const watched: Store = {
      ...store,
      run: (name, args) => {
        const result = this.isCutOff
          ? Promise.reject(new Error('the store is unavailable'))
          : store.run(name, args);
        this.#busy.add(result);
        const done = () => void this.#busy.delete(result);
        result.then(done, done);
        return result;
      },
    };
    const logger = pino({ level: 'silent' });
    this.ledger = new Ledger(watched, id);
    this.heartbeat = new Heartbeat({ store: watched, id, logger, timers: this.#time, clock: Date.now });
  }

  async live(ms: number): Promise<void> {
    await this.#time.advance(ms, async () => {
      for (let quiet = 0; quiet < 3; quiet += 1) {
        if (this.#busy.size > 0) quiet = 0;
        await Promise.allSettled(this.#busy);
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
    });
  }

  hold(token: TokenRecord, requestId: string): Promise<string> {
    return this.ledger.reserve({ requestId, token, model: 'm', unit: 'characters', amount: 10 });
  }
}

let testStore: TestStore;
let store: Store;
let token: TokenRecord;
const open = async (engine: Engine) => {
  testStore = await TestStore.make(engine);
  store = await testStore.open();
  token = await makeToken(store, { remainQuota: startQuota });
};
afterEach(() => testStore.remove());

const states = async () => (await ledgerRows(store)).map(({ state }) => state);
const left = async () => (await balanceOf(store, token)).remain_quota;

test.each(engines)('the reservations of a killed gateway on %s are released', async (engine) => {
  await open(engine);
  const killed = new Node('killed', store);
  await killed.heartbeat.start();
  await killed.hold(token, 'r1');
  const next = new Node('next', store);
  // SQLite has only one gateway. On PostgreSQL the other one might still be running.
  expect(await next.heartbeat.start()).toMatchObject({ reservations: engine === 'sqlite' ? 1 : 0 });
  await next.hold(token, 'r2');
  await next.live(6 * second);
  expect(await states()).toEqual(['refunded', 'open']);
  expect(await left()).toBe(startQuota - 10);
  await next.heartbeat.stop();
  expect(await store.read.selectFrom('gateways').selectAll().execute()).toEqual([]);
});

describe.runIf(engines.includes('postgres'))('gateways that share a database', () => {
  let [one, other]: [Node, Node] = [] as never;
  beforeEach(async () => {
    await open('postgres');
    [one, other] = [new Node('one', store), new Node('other', store)];
    await one.heartbeat.start();
    await other.heartbeat.start();
    await one.hold(token, 'r1');
    await other.live(2 * second);
    await one.live(second);
  });

  test('one without heartbeats for five polls is removed, and not before', async () => {
    await other.live(5 * second);
    expect(await states()).toEqual(['open']);
    await other.live(second);
    expect(await states()).toEqual(['refunded']);
    expect(await left()).toBe(startQuota);
  });

  test('one with occasional heartbeats is not removed', async () => {
    for (let round = 0; round < 5; round += 1) {
      await other.live(5 * second);
      await one.live(second);
    }
    expect(await states()).toEqual(['open']);
  });

  test('one that stops releases its reservations at once', async () => {
    await one.heartbeat.stop();
    await other.live(second);
    expect(await states()).toEqual(['refunded']);
  });

  test('none is removed while the store is unavailable', async () => {
    [one.isCutOff, other.isCutOff] = [true, true];
    await Promise.all([one.live(3_600 * second), other.live(3_600 * second)]);
    [one.isCutOff, other.isCutOff] = [false, false];
    await other.live(4 * second);
    await one.live(second);
    await other.live(4 * second);
    expect(await states()).toEqual(['open']);
  });

  test('one that was only paused registers again, and its work is charged once', async () => {
    await other.live(10 * second);
    expect(await states()).toEqual(['refunded']);
    await one.live(second);
    await one.hold(token, 'r2');
    await other.live(3 * second);
    expect(await states()).toEqual(['refunded', 'open']);
    expect(await one.ledger.settle({ requestId: 'r1', charged: 7, log: logEntry })).toBeDefined();
    expect(await one.ledger.settle({ requestId: 'r1', charged: 7, log: logEntry })).toBeUndefined();
    expect(await balanceOf(store, token)).toEqual({ remain_quota: startQuota - 10 - 7, used_quota: 7 });
    await expectBalanced(store, token);
  });

  test('reservations that one made after its removal are released too', async () => {
    await other.live(6 * second);
    // It is paused before it detects its removal, and then killed.
    await one.hold(token, 'r2');
    await other.live(second);
    expect(await states()).toEqual(['refunded', 'refunded']);
    expect(await left()).toBe(startQuota);
  });
});
