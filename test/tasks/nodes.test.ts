import { expect, test, vi } from 'vitest';
import { engines, TestStore } from '../store/engines.ts';
import { makeToken } from '../store/ledger.ts';
import { Child } from './child.ts';
import { expectConsistent, taskRows } from './task-audit.ts';
import { TaskUpstream } from './task-upstream.ts';

const startQuota = 1_000_000;
/** For each node. */
const taskCount = 60;

test.runIf(engines.includes('postgres'))(
  'two gateways on PostgreSQL share the work, and one continues alone when the other is killed',
  { timeout: 120_000 },
  async () => {
    const testStore = await TestStore.make('postgres');
    const upstream = await TaskUpstream.start();
    const store = await testStore.open();
    const token = await makeToken(store, { remainQuota: startQuota });
    const prompts = Array.from(
      { length: taskCount },
      (_, index) => ['ok', 'late', 'fail'][index % 3] ?? 'ok',
    );
    const start = (name: string) =>
      new Child({
        name,
        store: testStore.options,
        upstreamUrl: upstream.url,
        token: { id: token.id, userId: token.userId },
        quota: 0,
        prompts,
        timing: { maxPollMs: 100 },
        // Short, but long enough that a busy machine does not look lost.
        heartbeat: { intervalMs: 250, maxMissed: 12 },
      });
    const [left, right] = [start('left'), start('right')];
    const open = async () => (await taskRows(store)).filter(({ completed_at }) => completed_at === null);
    // All tasks are submitted, and both nodes have polled. Both keep polling the open ones.
    const halfDone = async () => {
      expect([...left.idsOf('submitted'), ...right.idsOf('submitted')]).toHaveLength(2 * taskCount);
      const polls = [...upstream.tasks.values()].flatMap(({ polledBy }) => polledBy);
      expect(new Set(polls)).toEqual(new Set(['left', 'right']));
      expect(await open()).toHaveLength((2 * taskCount) / 3);
    };
    try {
      await vi.waitFor(halfDone, { timeout: 60_000, interval: 50 });
      left.kill();
      expect(await left.ended()).toEqual([null, 'SIGKILL']);
      upstream.release();
      await vi.waitFor(async () => expect(await open()).toEqual([]), {
        timeout: 45_000,
        interval: 50,
      });
    } finally {
      right.kill();
      await right.ended();
      await upstream.close();
    }
    await expectConsistent(store, upstream, token, startQuota);
    const states = (await taskRows(store)).map(({ state }) => state);
    expect(states.filter((state) => state === 'completed')).toHaveLength((2 * taskCount * 2) / 3);
    const shared = [...upstream.tasks.values()].filter(({ polledBy }) => new Set(polledBy).size === 2);
    expect(shared).not.toEqual([]);
    await testStore.remove();
  },
);
