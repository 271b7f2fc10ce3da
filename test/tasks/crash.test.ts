import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { engines, TestStore } from '../store/engines.ts';
import { Child } from './child.ts';
import { acceptedTask, inputOf, openNode } from './node.ts';
import { expectConsistent, expectExactWallet, taskRows } from './task-audit.ts';
import { TaskUpstream } from './task-upstream.ts';

const startQuota = 10_000;
const prompts = ['ok', 'hold', 'fail', 'ok'];
/** Only a task with an idempotency key reaches it on its first channel. */
const markedAt = 'submit:marked';
/** Before the response of the provider is on disk. Such a submission is not repeated. */
const interruptedAt = ['submit:reserved', markedAt, 'submit:answered'];
/** Before and after the provider receives the input of a waiting task. */
const resumedAt = ['resume:noted', 'resume:answered'];
const points = [
  ...interruptedAt,
  'submit:accepted',
  'poll:claimed',
  'poll:answered',
  'poll:recorded',
  'settle:before',
  'settle:between',
  'settle:after',
  'cancel:answered',
  ...resumedAt,
];
/** End of a task by its prompt: state and error code. */
const ends: Record<string, [string, string | null]> = {
  ok: ['completed', null],
  fail: ['failed', 'no'],
  hold: ['failed', 'task_canceled'],
  wait: ['completed', null],
};

/** Payers of the tasks. */
const payers = ['a key', 'a wallet with budgets', 'the wallet of a customer with sub-accounts'] as const;

describe.each(engines)('a gateway killed on %s', (engine) => {
  let testStore: TestStore;
  let upstream: TaskUpstream;
  beforeEach(async () => {
    testStore = await TestStore.make(engine);
    upstream = await TaskUpstream.start();
  });
  afterEach(async () => {
    await upstream.close();
    await testStore.remove();
  });

  test.each(points.flatMap((point) => payers.map((payer) => [point, payer] as const)))(
    'at %s: every task ends once, as reported to the client, and %s pays for it once',
    { timeout: 60_000 },
    async (point, payer) => {
      const wallet = payer !== 'a key';
      const account = payer === 'the wallet of a customer with sub-accounts';
      const options = { name: 'first', upstreamUrl: upstream.url };
      const idempotent = point === markedAt;
      const isResumed = resumedAt.includes(point);
      const child = new Child(
        {
          ...options,
          store: testStore.options,
          quota: startQuota,
          prompts: isResumed ? ['wait', ...prompts] : prompts,
          idempotent,
          wallet,
          account,
        },
        point,
      );
      expect(await child.ended()).toEqual([null, 'SIGKILL']);
      const inputs = () => [...upstream.tasks.values()].reduce((sum, task) => sum + task.inputs, 0);
      expect(inputs()).toBe(point === 'resume:answered' ? 1 : 0);
      const { token } = child;
      const store = await testStore.open();
      const node = openNode(store, { ...options, name: 'second', token, heartbeat: { intervalMs: 20 } });
      await node.start();
      const nameOf = (id: string) => ({ id, userId: token.userId, format: 'videos' }) as const;
      for (const { id, facts } of isResumed ? await taskRows(store) : []) {
        const { prompt, input } = JSON.parse(facts) as { prompt: string; input?: string };
        if (prompt !== 'wait') continue;
        // The input was stored before the provider received it.
        expect(input).toBe('more');
        if (point === 'resume:noted')
          await node.tasks.resume(acceptedTask(await node.tasks.read(nameOf(id))), inputOf(prompt));
      }
      const finish = async () => {
        const open = (await taskRows(store)).filter(({ completed_at }) => completed_at === null);
        // The client did not receive the id of a task to cancel, or it repeats the request.
        for (const { id, facts, upstream_id } of open) {
          if (facts.includes('hold') && upstream_id !== null) await node.tasks.cancel(nameOf(id));
        }
        expect(open).toEqual([]);
      };
      await vi.waitFor(finish, { timeout: 30_000, interval: 20 });
      await node.close();
      await expectConsistent(store, upstream, token, startQuota, { canDrop: idempotent });
      expect(inputs()).toBe(isResumed ? 1 : 0);
      if (wallet) await expectExactWallet(store, token.userId, startQuota);
      const tasks = await taskRows(store);
      expect(tasks.length).toBeGreaterThan(0);
      const [interrupted, others] = [
        tasks.filter(({ error_code }) => error_code === 'submission_interrupted'),
        tasks.filter(({ error_code }) => error_code !== 'submission_interrupted'),
      ];
      for (const { facts, state, error_code } of others) {
        const { prompt } = JSON.parse(facts) as { prompt: string };
        expect([state, error_code]).toEqual(ends[prompt]);
      }
      if (interruptedAt.includes(point)) expect(interrupted).not.toEqual([]);
      else expect(others).not.toEqual([]);
      expect(others.map(({ id }) => id)).toEqual(expect.arrayContaining(child.idsOf('submitted')));
      expect(Math.max(0, ...upstream.submitted.values())).toBeLessThan(2);
      for (const id of child.idsOf('canceled')) {
        expect(tasks.find((task) => task.id === id)).toMatchObject({ error_code: 'task_canceled' });
      }
    },
  );
});
