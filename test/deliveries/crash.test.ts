import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { engines, TestStore } from '../store/engines.ts';
import { expectAllRight, taskRows } from '../tasks/accounts-of-tasks.ts';
import { Child } from '../tasks/child.ts';
import { openNode } from '../tasks/node.ts';
import { TaskUpstream } from '../tasks/task-upstream.ts';
import { Receiver } from './receiver.ts';

const startQuota = 10_000;
const prompts = ['ok', 'fail', 'ok', 'ok'];
const points = [
  'submit:accepted',
  'poll:recorded',
  'settle:between',
  'settle:after',
  'delivery:claimed',
  'delivery:answered',
  'delivery:recorded',
];
const order = ['queued', 'in_progress', 'completed', 'failed'];

describe.each(engines)('a gateway with an outbox killed on %s', (engine) => {
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

  test.each(points)('at %s: every change is told in its order', { timeout: 60_000 }, async (point) => {
    const options = { upstreamUrl: upstream.url, callbackUrl: receiver.url() };
    const child = new Child(
      { ...options, name: 'first', store: testStore.options, quota: startQuota, prompts },
      point,
    );
    expect(await child.ended()).toEqual([null, 'SIGKILL']);
    const store = await testStore.open();
    const left = new Map((await taskRows(store)).map(({ id, state }) => [id, state]));
    // Nothing was told that is not so.
    for (const { body } of receiver.seen)
      expect(order.indexOf(body.status)).toBeLessThanOrEqual(order.indexOf(left.get(body.id) ?? ''));
    const before = receiver.seen.length;
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
    await expectAllRight(store, upstream, token, startQuota);
    const deliveries = await rows();
    expect(new Set(deliveries.map(({ outcome }) => outcome))).toEqual(new Set(['delivered']));
    // A delivery that was answered but not written down comes once more; it has the same id.
    const ids = receiver.seen.map(({ id }) => id);
    expect(new Set(ids).size).toBe(deliveries.length);
    const told = Map.groupBy(
      receiver.seen.filter(({ id }, index) => ids.indexOf(id) === index),
      ({ body }) => body.id,
    );
    for (const { id, state } of await taskRows(store)) {
      const states = told.get(id)?.map(({ body }) => body.status) ?? [];
      expect(states).toEqual(states.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
      expect(states.at(-1)).toBe(state);
    }
    if (point === 'delivery:answered') expect(ids.indexOf(ids[0] ?? '', before)).toBeGreaterThan(0);
  });
});
