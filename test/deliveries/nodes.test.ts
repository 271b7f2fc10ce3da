import { expect, test, vi } from 'vitest';
import { engines, TestStore } from '../store/engines.ts';
import { makeToken } from '../store/ledger.ts';
import { Child } from '../tasks/child.ts';
import { TaskUpstream } from '../tasks/task-upstream.ts';
import { Receiver } from './receiver.ts';

/** For each node. */
const taskCount = 40;

test.runIf(engines.includes('postgres'))(
  'two gateways on PostgreSQL share the deliveries, and each delivery is sent once',
  { timeout: 120_000 },
  async () => {
    const testStore = await TestStore.make('postgres');
    const [upstream, receiver] = await Promise.all([TaskUpstream.start(), Receiver.start()]);
    const store = await testStore.open();
    const token = await makeToken(store, { remainQuota: 1_000_000 });
    const start = (name: string) =>
      new Child({
        name,
        store: testStore.options,
        upstreamUrl: upstream.url,
        token: { id: token.id, userId: token.userId },
        quota: 0,
        prompts: Array.from({ length: taskCount }, (_, index) => (index % 2 === 0 ? 'ok' : 'fail')),
        callbackUrl: receiver.url(),
      });
    const nodes = [start('left'), start('right')];
    const done = async () => {
      const closed = await store.read
        .selectFrom('deliveries')
        .select('state')
        .where('outcome', '=', 'delivered')
        .execute();
      expect(closed.filter(({ state }) => state === 'completed' || state === 'failed')).toHaveLength(
        2 * taskCount,
      );
    };
    try {
      await vi.waitFor(done, { timeout: 90_000, interval: 50 });
    } finally {
      for (const node of nodes) node.kill();
      await Promise.all(nodes.map((node) => node.ended()));
      await Promise.all([upstream.close(), receiver.close()]);
    }
    const sequences = Object.values(receiver.statesByTask());
    expect(sequences).toHaveLength(2 * taskCount);
    for (const states of sequences)
      expect([
        ['queued', 'in_progress', 'completed'],
        ['queued', 'in_progress', 'failed'],
      ]).toContainEqual(states);
    expect(new Set(receiver.seen.map(({ body }) => body.node))).toEqual(new Set(['left', 'right']));
    await testStore.remove();
  },
);
