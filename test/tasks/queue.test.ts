import { describe, expect, test } from 'vitest';
import type { StartedTask } from '../../server/store/commands/task-queue.ts';
import type { TaskRecord } from '../../server/store/queries/tasks.ts';
import { queueLimitsOf } from '../../server/tasks/queue-limits.ts';
import type { TaskCreation } from '../../server/tasks/task-creation.ts';
import { engines } from '../store/engines.ts';
import { makeToken } from '../store/ledger.ts';
import { TaskHarness } from './harness.ts';
import { changeOf } from './node.ts';
import { driverError } from './scripted-driver.ts';

describe.each(engines)('the queue of tasks on %s', (engine) => {
  let rig: TaskHarness;
  TaskHarness.eachTest(engine, (made) => {
    rig = made;
    limit('one', 1);
  });

  const limit = (name: string, concurrentTasks: number) =>
    rig.channel(name).limiter.apply({ concurrentTasks });
  const both = () => [rig.channel('one'), rig.channel('two')];
  const submitted = () => rig.driver.submitted.map(({ id }) => id);
  const channelsUsed = () => rig.driver.submitted.map(({ channel }) => channel);
  const waiting = () => rig.store.read.selectFrom('task_queue').selectAll().execute();
  const place = async (task: TaskRecord) => (await rig.tasks.read(rig.name(task)))?.queue;

  /** Completes every task that a provider has, then starts the next ones. */
  async function completeAll(): Promise<void> {
    rig.driver.onPoll = () => ({ state: 'completed', result: {}, usage: { units: 5 } });
    await rig.step(1_000);
    await rig.tasks.runQueue();
    await rig.settled();
  }

  test('starts one of 50 concurrent tasks, and the others in their order', async () => {
    const made: TaskRecord[] = [];
    for (let index = 0; index < 10; index += 1) made.push(await rig.submit({ request: { index } }));
    made.push(
      ...(await Promise.all(
        Array.from({ length: 40 }, (_, index) => rig.submit({ request: { index: index + 10 } })),
      )),
    );
    expect(submitted()).toEqual([made[0]?.id]);
    expect(made[1]).toMatchObject({ state: 'queued', queue: { position: 1, estimatedStartAt: null } });
    expect(await place(made[3] as TaskRecord)).toMatchObject({ position: 3 });
    expect(await waiting()).toHaveLength(49);
    await rig.expectBalance({ reserved: 50 * 50 });
    for (let round = 1; round < 10; round += 1) {
      await completeAll();
      expect(submitted()).toEqual(made.slice(0, round + 1).map(({ id }) => id));
    }
    expect(rig.driver.submitted[9]?.request).toEqual({ index: 9 });
    // The average duration is known now.
    expect((await place(made[12] as TaskRecord))?.estimatedStartAt).toBeGreaterThan(rig.clock.now());
    while ((await waiting()).length > 0) await completeAll();
    await completeAll();
    expect(new Set(submitted()).size).toBe(50);
    expect(rig.driver.submitted).toHaveLength(50);
    await rig.expectBalance({ charged: 50 * 50 });
  });

  test('serves users in turn, so that a flood of one does not delay another', async () => {
    const other = await makeToken(rig.store, { remainQuota: 1_000 });
    const flood = [];
    for (let index = 0; index < 5; index += 1) flood.push(await rig.submit());
    const { caller } = rig.order();
    const ofOther = { ...caller, tokenId: other.id, userId: caller.userId + 1 };
    const single = await rig.submit({ caller: ofOther });
    await completeAll();
    expect(submitted()).toEqual([flood[0]?.id, single.id]);
  });

  test('refuses tasks of a user beyond its part of the queue, while others wait and are served', async () => {
    const limits = { queueTasks: 5, queueTasksPerUser: 3, queueMb: 1, queueMbPerUser: 1 };
    const tasks = rig.engine({ queueLimits: () => queueLimitsOf(limits) });
    const submit = (change: Partial<TaskCreation> = {}) => tasks.submit(rig.order(change));
    const { caller } = rig.order();
    const full = {
      status: 429,
      code: 'rate_limit_exceeded',
      retryAfter: 10,
      message: 'The queue of tasks of your user is full. Repeat after 10 seconds.',
    };
    // The first one starts at once.
    const { task: first } = await submit();
    for (let index = 0; index < 3; index += 1) await submit();
    const { commands } = rig;
    const sent = commands.length;
    const refused = await Promise.allSettled(Array.from({ length: 20 }, () => submit()));
    expect(refused).toMatchObject(refused.map(() => ({ status: 'rejected', reason: full })));
    expect(commands.slice(sent)).toEqual(refused.map(() => 'createTask'));
    expect(await waiting()).toHaveLength(3);
    // The refused tasks reserve nothing.
    await rig.expectBalance({ reserved: 4 * 50 });
    const other = await makeToken(rig.store, { remainQuota: 1_000 });
    const ofOther = { caller: { ...caller, tokenId: other.id, userId: other.userId } };
    const { task: single } = await submit(ofOther);
    await submit(ofOther);
    const message = 'The queue of tasks is full. Repeat after 10 seconds.';
    await expect(submit(ofOther)).rejects.toMatchObject({ ...full, message });
    await completeAll();
    expect(submitted()).toEqual([first.id, single.id]);
    // A task that has started or ended leaves its place to others.
    await submit(ofOther);
    const [last] = (await waiting()).slice(-1);
    await rig.tasks.cancelAny(last?.task_id ?? '', changeOf('cancelTask'));
    await submit(ofOther);
    await tasks.stop();
  });

  test('limits the bytes of waiting requests, but accepts any request into an empty queue', async () => {
    const limits = { queueTasks: 9, queueTasksPerUser: 9, queueMb: 2, queueMbPerUser: 1 };
    const tasks = rig.engine({ queueLimits: () => queueLimitsOf(limits) });
    const submit = (length: number) => tasks.submit(rig.order({ request: { prompt: 'x'.repeat(length) } }));
    await submit(1);
    await submit(1_500_000);
    await expect(submit(1)).rejects.toMatchObject({ status: 429, retryAfter: 10 });
    await completeAll();
    await submit(400_000);
    await submit(400_000);
    await expect(submit(400_000)).rejects.toMatchObject({ status: 429, retryAfter: 10 });
    await submit(100_000);
    expect((await waiting()).map(({ request_bytes: bytes }) => Math.floor(bytes / 100_000))).toEqual([
      4, 4, 1,
    ]);
    await tasks.stop();
  });

  test('uses the next channel before a task has to wait', async () => {
    limit('two', 1);
    await rig.submit({ channels: both() });
    await rig.submit({ channels: both() });
    const third = await rig.submit({ channels: both() });
    expect(channelsUsed()).toEqual(['one', 'two']);
    expect(third.queue?.position).toBe(1);
    limit('two', 2);
    await rig.tasks.runQueue();
    await rig.settled();
    expect(channelsUsed()).toEqual(['one', 'two', 'two']);
  });

  test('two gateways never exceed the limit together', async () => {
    limit('one', 3);
    const second = rig.engine({ owner: 'second' });
    await Promise.all(
      Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? rig.tasks : second).submit(rig.order())),
    );
    expect(rig.driver.submitted).toHaveLength(3);
    await Promise.all([rig.tasks.runQueue(), second.runQueue()]);
    await rig.settled();
    expect(rig.driver.submitted).toHaveLength(3);
    await second.stop();
  });

  test('a kill before the provider was asked returns the task to the queue', async () => {
    const [first, second] = [await rig.submit(), await rig.submit()];
    rig.driver.onPoll = () => ({ state: 'completed', result: {}, usage: { units: 5 } });
    await rig.step(1_000);
    const now = rig.clock.monotonic();
    const channels = [{ channel: 'one', isHealthy: true, maxTasks: 1, maxStarts: null }];
    const start = { channels, owner: 'lost', now, until: now + 10_000, limit: 10 };
    const { started } = await rig.store.run('startQueuedTasks', start);
    expect(started.map(({ task }) => task.id)).toEqual([second.id]);
    expect((await rig.store.run('startQueuedTasks', start)).started).toEqual([]);
    expect(await rig.releaseOrphans()).toBe(1);
    await rig.step(0);
    expect(await rig.stored(second)).toMatchObject({ queued_at: expect.any(Number), next_poll_at: null });
    await rig.tasks.runQueue();
    await rig.settled();
    expect(submitted()).toEqual([first.id, second.id]);
    expect(await waiting()).toEqual([]);
  });

  test('a kill after the provider was asked fails the task, which is not sent again', async () => {
    await rig.submit();
    const second = await rig.submit();
    rig.driver.onPoll = () => ({ state: 'completed', result: {}, usage: { units: 5 } });
    await rig.step(1_000);
    const now = rig.clock.monotonic();
    const channels = [{ channel: 'one', isHealthy: true, maxTasks: 1, maxStarts: null }];
    const start = { channels, owner: 'lost', now, until: now + 10_000, limit: 10 };
    const { started } = await rig.store.run('startQueuedTasks', start);
    const { id, attempt } = (started[0] as StartedTask).task;
    await rig.store.run('markSubmitted', { id, attempt, channel: 'one', askedAt: now });
    await rig.releaseOrphans();
    await rig.step(0);
    expect(await rig.stored(second)).toMatchObject({ state: 'failed', error_code: 'submission_interrupted' });
    expect(await waiting()).toEqual([]);
    await rig.expectBalance({ charged: 50 });
  });

  test('a waiting task can be canceled and is refunded', async () => {
    await rig.submit();
    const second = await rig.submit();
    expect(await rig.tasks.cancel(rig.name(second))).toMatchObject({
      canceled: true,
      task: { state: 'failed', error: { code: 'task_canceled' } },
    });
    expect(await waiting()).toEqual([]);
    await rig.expectBalance({ reserved: 50 });
  });

  test('a task that waits too long fails and is refunded', async () => {
    await rig.submit();
    const second = await rig.submit();
    rig.clock.jump(3_599_000);
    await rig.tasks.runQueue();
    expect(await rig.stored(second)).toMatchObject({ state: 'queued' });
    rig.clock.jump(1_000);
    await rig.tasks.runQueue();
    expect(await rig.stored(second)).toMatchObject({
      state: 'failed',
      error_code: 'task_expired',
      error_message:
        'The task was not started in time, because the channels of its model were at their limits.',
    });
    expect(await waiting()).toEqual([]);
    await rig.expectBalance({ reserved: 50 });
  });

  test('the time in the queue does not count against the time of the provider', async () => {
    await rig.submit({ lifetimeMs: 60_000 });
    const second = await rig.submit({ lifetimeMs: 60_000 });
    rig.clock.jump(50_000);
    await completeAll();
    const { deadline_at } = await rig.stored(second);
    expect(deadline_at).toBe(rig.clock.monotonic() + 60_000);
  });

  test('a rejection is returned to the client that waits, and fails the task later', async () => {
    rig.driver.onSubmit = () => {
      throw driverError('rejected');
    };
    await expect(rig.submit()).rejects.toThrow('it was rejected');
    expect(await waiting()).toEqual([]);
    await rig.expectBalance({});
    rig.driver.onSubmit = (task) => rig.driver.make(task);
    await rig.submit();
    const second = await rig.submit();
    rig.driver.onSubmit = () => {
      throw driverError('rejected');
    };
    await completeAll();
    expect(await rig.stored(second)).toMatchObject({ state: 'failed', error_code: 'rejected' });
    expect(await waiting()).toEqual([]);
    await rig.expectBalance({ charged: 50 });
  });

  test('a retryable error is followed by the next channel, then by the client, or by a later attempt', async () => {
    rig.driver.onSubmit = () => {
      throw driverError('retryable');
    };
    await expect(rig.submit({ channels: both() })).rejects.toThrow('it was retryable');
    expect(channelsUsed()).toEqual(['one', 'two']);
    rig.driver.onSubmit = (task) => rig.driver.make(task);
    await rig.submit();
    const second = await rig.submit();
    let failures = 0;
    rig.driver.onSubmit = (task) => {
      failures += 1;
      if (failures === 1) throw driverError('retryable');
      return rig.driver.make(task);
    };
    await completeAll();
    expect(await rig.stored(second)).toMatchObject({ state: 'queued', upstream_id: null, asked_at: null });
    rig.clock.jump(2_000);
    await rig.tasks.runQueue();
    await rig.settled();
    expect(await rig.stored(second)).toMatchObject({ upstream_id: expect.any(String) });
  });

  test('tasks wait for a channel that was removed, and start when it is back', async () => {
    let names = ['one', 'two'];
    const channels = {
      get names() {
        return names;
      },
      named: (name: string) => (names.includes(name) ? rig.channel(name) : undefined),
    };
    const engineWithout = rig.engine({ channels });
    await engineWithout.submit(rig.order());
    const { task: second } = await engineWithout.submit(rig.order());
    names = ['two'];
    rig.driver.onPoll = () => ({ state: 'completed', result: {}, usage: { units: 5 } });
    await rig.step(1_000);
    await engineWithout.runQueue();
    await rig.settled();
    expect(await rig.stored(second)).toMatchObject({ queued_at: expect.any(Number) });
    names = ['one', 'two'];
    await engineWithout.runQueue();
    await rig.settled();
    expect(await rig.stored(second)).toMatchObject({ queued_at: null, upstream_id: expect.any(String) });
    await engineWithout.stop();
  });

  test('a repeated request gets the waiting task', async () => {
    await rig.submit();
    const second = await rig.submit({ idempotencyKey: 'k' });
    const again = await rig.submit({ idempotencyKey: 'k' });
    expect([again.id, again.queuedAt]).toEqual([second.id, second.queuedAt]);
    expect(await waiting()).toHaveLength(1);
  });

  test('tasks that wait when the limit is removed are started', async () => {
    await rig.submit();
    const second = await rig.submit();
    rig.channel('one').limiter.apply({});
    await rig.tasks.runQueue();
    await rig.settled();
    expect(submitted()).toContain(second.id);
    await rig.submit();
    expect(submitted()).toHaveLength(3);
  });
});
