import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Engine, engines, TestStore } from '../store/engines.ts';
import { Child } from '../tasks/child.ts';
import { openNode } from '../tasks/node.ts';
import { expectConsistent, expectExactWallet, taskRows } from '../tasks/task-audit.ts';
import { TaskUpstream } from '../tasks/task-upstream.ts';
import { type Received, Receiver } from './receiver.ts';

const startQuota = 10_000;
const prompts = ['ok', 'fail', 'ok', 'ok'];
/**
 * Fault point at which the gateway is killed, and how many attempts of each delivery fail first.
 * test/tasks/crash.test.ts covers the other fault points without an outbox.
 */
const cases: readonly [engine: Engine, point: string, failing: number][] = [
  ['sqlite', 'settle:between', 0],
  ['sqlite', 'delivery:claimed', 0],
  ['sqlite', 'delivery:answered', 0],
  ['sqlite', 'delivery:recorded', 3],
  ['postgres', 'settle:between', 0],
  ['postgres', 'delivery:claimed', 3],
  ['postgres', 'delivery:answered', 3],
  ['postgres', 'delivery:recorded', 0],
];
/** Deliveries that can be in flight when the gateway is killed: one for each task. */
const atOnce = prompts.length;
const order = ['queued', 'in_progress', 'completed', 'failed'];

describe.each(cases)('a gateway with an outbox in %s', (engine, point, failing) => {
  let testStore: TestStore;
  let upstream: TaskUpstream;
  let receiver: Receiver;
  beforeEach(async () => {
    testStore = await TestStore.make(engine);
    upstream = await TaskUpstream.start();
    receiver = await Receiver.start();
  });
  afterEach(async () => {
    await Promise.all([upstream.close(), receiver.close()]);
    await testStore.remove();
  });

  test.runIf(engines.includes(engine))(
    `killed at ${point}, receiver fails ${failing} attempts first: each change is delivered in order`,
    { timeout: 60_000 },
    async () => {
      const acknowledged = refuseFirst(receiver, failing);
      const options = { upstreamUrl: upstream.url, callbackUrl: receiver.url() };
      const paid = { quota: startQuota, wallet: true, account: true };
      const child = new Child(
        { ...options, ...paid, name: 'first', store: testStore.options, prompts },
        point,
      );
      expect(await child.ended()).toEqual([null, 'SIGKILL']);
      const store = await testStore.open();
      const left = new Map((await taskRows(store)).map(({ id, state }) => [id, state]));
      // The receiver has not received a state that the task has not reached.
      for (const { body } of receiver.seen)
        expect(order.indexOf(body.status)).toBeLessThanOrEqual(order.indexOf(left.get(body.id) ?? ''));
      const { token } = child;
      const node = openNode(store, { ...options, name: 'second', token, heartbeat: { intervalMs: 20 } });
      await node.start();
      const rows = () => store.read.selectFrom('deliveries').selectAll().orderBy('id').execute();
      const finish = async () => {
        expect((await taskRows(store)).filter(({ completed_at }) => completed_at === null)).toEqual([]);
        expect((await rows()).filter(({ closed_at }) => closed_at === null)).toEqual([]);
      };
      await vi.waitFor(finish, { timeout: 30_000, interval: 20 });
      await node.close();
      await expectConsistent(store, upstream, token, startQuota);
      await expectExactWallet(store, token.userId, startQuota);
      const deliveries = await rows();
      expect(new Set(deliveries.map(({ outcome }) => outcome))).toEqual(new Set(['delivered']));
      // A delivery that was acknowledged but not recorded is sent again with the same id.
      const ids = acknowledged.map(({ id }) => id);
      expect(new Set(ids).size).toBe(deliveries.length);
      expect(ids.length - deliveries.length).toBeLessThanOrEqual(atOnce);
      const received = Map.groupBy(
        acknowledged.filter(({ id }, index) => ids.indexOf(id) === index),
        ({ body }) => body.id,
      );
      for (const { id, state } of await taskRows(store)) {
        const states = received.get(id)?.map(({ body }) => body.status) ?? [];
        expect(states).toEqual(states.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
        expect(states.at(-1)).toBe(state);
      }
      if (point === 'delivery:answered' && failing === 0)
        expect(ids.length).toBeGreaterThan(deliveries.length);
    },
  );
});

describe.each(engines)('a gateway that sends events on %s', (engine) => {
  test('killed at event:recorded sends each event once, and later ones, too', {
    timeout: 60_000,
  }, async () => {
    const testStore = await TestStore.make(engine);
    const upstream = await TaskUpstream.start();
    const receiver = await Receiver.start();
    try {
      const options = { upstreamUrl: upstream.url, detectsEvents: true };
      const paid = { quota: startQuota, wallet: true, eventsUrl: receiver.url() };
      const work = { ...options, ...paid, name: 'first', store: testStore.options, prompts };
      const child = new Child(work, 'event:recorded');
      expect(await child.ended()).toEqual([null, 'SIGKILL']);
      const store = await testStore.open();
      const deliveries = () => store.read.selectFrom('deliveries').selectAll().execute();
      expect(await deliveries()).not.toEqual([]);
      expect(receiver.seen).toEqual([]);
      const { token } = child;
      const node = openNode(store, { ...options, name: 'second', token, heartbeat: { intervalMs: 20 } });
      await node.start();
      // Their charges reach the thresholds of both budgets, also if the kill interrupted all tasks.
      for (const prompt of ['ok', 'ok', 'ok']) await node.tasks.submit(node.order(prompt));
      const typesSent = () => receiver.seen.map(({ body }) => String(body.type)).toSorted();
      const finish = async () => {
        expect((await taskRows(store)).filter(({ completed_at }) => completed_at === null)).toEqual([]);
        expect(typesSent().filter((type) => type === 'budget.reached')).toHaveLength(2);
        expect((await deliveries()).filter(({ closed_at }) => closed_at === null)).toEqual([]);
      };
      await vi.waitFor(finish, { timeout: 30_000, interval: 20 });
      await node.close();
      const events = await store.read.selectFrom('events').select(['kind', 'subject']).execute();
      expect(typesSent()).toEqual(events.map(({ kind }) => kind).toSorted());
      expect(typesSent()).toContain('quota.low');
      expect(new Set(events.map(({ kind, subject }) => `${kind} of ${subject}`)).size).toBe(events.length);
      await expectConsistent(store, upstream, token, startQuota);
      await expectExactWallet(store, token.userId, startQuota);
    } finally {
      await Promise.all([upstream.close(), receiver.close()]);
      await testStore.remove();
    }
  });
});

/**
 * Makes a receiver fail the first attempts of each delivery. Returns the acknowledged deliveries, in order of
 * arrival.
 */
function refuseFirst(receiver: Receiver, failing: number): Received[] {
  const acknowledged: Received[] = [];
  const tries = new Map<string, number>();
  receiver.answer = (delivery, response) => {
    const before = tries.get(delivery.id) ?? 0;
    tries.set(delivery.id, before + 1);
    if (before >= failing) acknowledged.push(delivery);
    response.writeHead(before < failing ? 503 : 200).end();
  };
  return acknowledged;
}
