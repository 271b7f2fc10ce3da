import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../server/tasks/driver.ts';
import { Outbox } from '../deliveries/outbox.ts';
import { Receiver } from '../deliveries/receiver.ts';
import { engines } from '../store/engines.ts';
import { now, TaskHarness } from './harness.ts';
import { TestClock } from './test-clock.ts';

const hour = 3_600_000;
const running: Snapshot = { state: 'in_progress', progress: 1 };
const done: Snapshot = { state: 'completed', result: {} };

describe.each(engines)('tasks on %s, when the system clock changes', (engine) => {
  let rig: TaskHarness;
  TaskHarness.eachTest(engine, (made) => {
    rig = made;
  });

  const pauses = () => rig.driver.polled.map(({ at }, index, all) => at - (all[index - 1]?.at ?? now));

  test.each([
    ['back an hour', -hour],
    ['forward three hours', 3 * hour],
  ])('%s: polls keep their intervals, and times use the system clock', async (_, step) => {
    await rig.tasks.start();
    const before = await rig.submit();
    await rig.advance(3_000);
    rig.clock.step(step);
    await rig.advance(3_000);
    rig.driver.onPoll = () => done;
    await rig.advance(4_000);
    expect(pauses()).toEqual([1_000, 1_000, 1_500, 2_250, 3_375]);
    const after = await rig.submit();
    await rig.advance(1_000);
    await rig.tasks.stop();
    expect(await rig.stored(before)).toMatchObject({
      state: 'completed',
      created_at: now,
      completed_at: now + 9_125 + step,
    });
    expect(await rig.stored(after)).toMatchObject({ state: 'completed', created_at: now + 10_000 + step });
    for (const { duration_ms } of await rig.log()) expect(duration_ms).toBeGreaterThanOrEqual(0);
    await rig.expectBalance({ charged: 100 });
  });

  test('forward three hours: a task with two hours left does not expire', async () => {
    const task = await rig.submit({ lifetimeMs: 2 * hour });
    rig.driver.onPoll = () => running;
    rig.clock.step(3 * hour);
    await rig.step(2_000);
    expect(await rig.stored(task)).toMatchObject({ state: 'in_progress' });
    expect(await rig.tasks.runHousekeeping()).toEqual({ pruned: 0, expired: 0 });
  });

  test('back an hour: a read polls a stale task', async () => {
    const task = await rig.submit();
    rig.driver.onPoll = () => running;
    rig.clock.step(-hour);
    rig.clock.jump(2_000);
    expect(await rig.tasks.read(rig.name(task))).toMatchObject({ state: 'in_progress' });
  });

  test('are not delayed by due times of a clock that ran ahead', async () => {
    const receiver = await Receiver.start();
    const outbox = new Outbox(rig);
    const task = await outbox.submit(receiver.url());
    expect(await outbox.rows()).toMatchObject([{ state: 'queued', outcome: null }]);
    // The clock of the next process is two hours behind, which exceeds the longest pause of both loops.
    const timers = new TestClock(now - 2 * hour);
    const next = rig.engine({ timers });
    const other = outbox.another({ timers });
    rig.driver.onPoll = () => done;
    await next.start();
    await other.start();
    for (let received = 0; received < 2; received = receiver.seen.length) {
      await timers.advance(1_000, () => rig.settled());
    }
    expect(await rig.stored(task)).toMatchObject({ state: 'completed' });
    expect(timers.monotonic()).toBeLessThan(now - 2 * hour + 60_000);
    await next.stop();
    await other.stop();
    await outbox.close();
    await receiver.close();
  });
});
