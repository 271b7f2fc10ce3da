import { describe, expect, test } from 'vitest';
import { Failure } from '../../server/lib/failure.ts';
import { driverErrorForStatus, type Snapshot } from '../../server/tasks/driver.ts';
import type { Tasks } from '../../server/tasks/tasks.ts';
import { engines } from '../store/engines.ts';
import { makeToken } from '../store/ledger.ts';
import { now, startQuota, TaskHarness } from './harness.ts';
import { driverError } from './scripted-driver.ts';

const done: Snapshot = { state: 'completed', result: {}, usage: { units: 5 } };
const running: Snapshot = { state: 'in_progress', progress: 1 };

describe.each(engines)('polling on %s', (engine) => {
  let rig: TaskHarness;
  TaskHarness.eachTest(engine, (made) => {
    rig = made;
  });

  const pauses = () => rig.driver.polled.map(({ at }, index, all) => at - (all[index - 1]?.at ?? now));
  const submitMany = (count: number, channel = 'one') =>
    Promise.all(Array.from({ length: count }, () => rig.submit({ channels: [rig.channel(channel)] })));

  /** Makes polls hang until the test resolves them. */
  const hangPolls = () => {
    const ends: ((snapshot: Snapshot) => void)[] = [];
    rig.driver.onPoll = () =>
      new Promise((resolve) => {
        ends.push(resolve);
      });
    return ends;
  };

  /** Stops an engine whose driver never responds. */
  const stopAtOnce = async (engine: Tasks) => {
    const stopped = engine.stop(0);
    await rig.advance(0);
    await stopped;
  };

  test('backs off from 1 s to 15 s', async () => {
    await rig.tasks.start();
    await rig.submit();
    await rig.advance(90_000);
    expect(pauses()).toEqual([
      1_000, 1_000, 1_500, 2_250, 3_375, 5_063, 7_595, 11_393, 15_000, 15_000, 15_000,
    ]);
    await rig.tasks.stop();
  });

  test('shortens each pause by up to a fifth', async () => {
    const jittered = rig.engine({ random: () => 0.5, timing: { claimGapMs: 0 } });
    await jittered.start();
    await jittered.submit(rig.order());
    await rig.advance(20_000);
    expect(pauses()).toEqual([900, 900, 1_350, 2_025, 3_038, 4_557, 6_836]);
    await jittered.stop();
  });

  test('waits at least as long as the upstream requests', async () => {
    rig.driver.onSubmit = (task) => ({ ...rig.driver.make(task), pollAfterMs: 4_000 });
    rig.driver.onPoll = () => ({ state: 'queued', pollAfterMs: 6_000 });
    await rig.tasks.start();
    await rig.submit();
    await rig.advance(17_000);
    expect(pauses()).toEqual([4_000, 6_000, 6_000]);
    await rig.tasks.stop();
  });

  test('backs off after errors up to a minute, and returns to its interval after a success', async () => {
    rig.driver.onPoll = () => {
      throw driverError('retryable');
    };
    await rig.tasks.start();
    const task = await rig.submit();
    await rig.advance(200_000);
    expect(pauses()).toEqual([1_000, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(await rig.stored(task)).toMatchObject({ state: 'queued', failures: 9 });
    rig.driver.polled.length = 0;
    rig.driver.onPoll = () => running;
    await rig.advance(47_000);
    expect(rig.driver.polled.map(({ at }) => at - now)).toEqual([244_000, 245_000, 246_500]);
    expect(await rig.stored(task)).toMatchObject({ state: 'in_progress', failures: 0 });
    await rig.tasks.stop();
  });

  test('a driver that hangPolls times out, even if it ignores the signal', async () => {
    hangPolls();
    await rig.tasks.start();
    const task = await rig.submit();
    await rig.advance(15_999);
    expect(rig.driver.polled).toHaveLength(1);
    await rig.advance(1);
    expect(await rig.stored(task)).toMatchObject({ failures: 1, lease_owner: null });
    expect(rig.channel('one').health.isHealthy).toBe(true);
    rig.driver.onPoll = () => done;
    await rig.advance(1_000);
    expect(await rig.stored(task)).toMatchObject({ state: 'completed' });
    await rig.tasks.stop();
    await rig.expectBalance({ charged: 50 });
  });

  test('throttled polls do not throttle new submissions', async () => {
    rig.driver.onPoll = () => {
      throw driverErrorForStatus(
        429,
        new Failure(429, 'rate_limit_exceeded', 'Slower.', { retryAfter: 60 }),
        { pauseSeconds: 60 },
      );
    };
    const task = await rig.submit();
    await rig.step(1_000);
    const { failures, user_id: user } = await rig.stored(task);
    expect(failures).toBe(1);
    for (const asked of [{ user }, {}])
      expect(rig.channel('one').health.retryDelay(asked)).toMatchObject({ throttled: false });
  });

  test('limits concurrent polls of each channel independently', async () => {
    const narrow = rig.engine({ pollsPerChannel: 6 });
    await submitMany(8);
    await submitMany(2, 'two');
    const slow = hangPolls();
    const hanging = rig.driver.onPoll;
    rig.driver.onPoll = (task, upstream) =>
      upstream.channel.name === 'two' ? done : hanging(task, upstream);
    await narrow.start();
    await rig.advance(2_000);
    const polled = () => rig.driver.polled.length;
    expect([slow.length, polled()]).toEqual([3, 5]);
    slow[0]?.(done);
    await rig.advance(100);
    expect([slow.length, polled()]).toEqual([4, 6]);
    rig.driver.onPoll = () => done;
    for (const end of slow) end(done);
    await rig.advance(100);
    await rig.advance(100);
    await narrow.stop();
    await rig.expectBalance({ charged: 500 });
  });

  test('continues when slots become free during a claim', async () => {
    await submitMany(9);
    const slow = hangPolls();
    const narrow = rig.engine({
      pollsPerChannel: 6,
      store: {
        ...rig.store,
        run: (name, args) => {
          if (name === 'claimTasks' && slow.length === 3) {
            rig.driver.onPoll = () => done;
            for (const end of slow) end(done);
          }
          return rig.store.run(name, args);
        },
      },
    });
    await narrow.start();
    await rig.advance(1_000);
    slow[0]?.(done);
    await rig.advance(1_000);
    await narrow.stop();
    await rig.expectBalance({ charged: 450 });
  });

  const throttledFor = (retryAfter: number) =>
    driverErrorForStatus(429, new Failure(429, 'rate_limit_exceeded', 'Busy.', { retryAfter }));

  test('a throttled task is polled after its pause, and other tasks are not delayed', async () => {
    const throttled = await rig.submit();
    const other = await rig.submit();
    rig.driver.onPoll = ({ id }) => {
      if (id === throttled.id) throw throttledFor(30);
      return running;
    };
    await rig.tasks.start();
    await rig.advance(62_000);
    const times = (id: string) => rig.driver.polled.filter((one) => one.id === id).map(({ at }) => at - now);
    expect(times(throttled.id)).toEqual([1_000, 31_000, 61_000]);
    expect(times(other.id)).toEqual([1_000, 2_000, 3_500, 5_750, 9_125, 14_188, 21_783, 33_176, 48_176]);
    await rig.tasks.stop();
  });

  test('a channel pauses for the shortest time when several tasks are throttled', async () => {
    await submitMany(3);
    const retryAfters = [40, 30, 50];
    rig.driver.onPoll = () => {
      throw throttledFor(retryAfters[rig.driver.polled.length - 1] ?? 0);
    };
    await rig.tasks.start();
    await rig.advance(1_500);
    expect(rig.driver.polled).toHaveLength(3);
    rig.driver.onPoll = () => done;
    const later = await rig.submit();
    await rig.submit({ channels: [rig.channel('two')] });
    await rig.advance(29_400);
    // Only the other channel was polled.
    expect(rig.driver.polled.slice(3).map(({ at }) => at - now)).toEqual([2_500]);
    await rig.advance(100);
    expect(rig.driver.polled).toHaveLength(6);
    expect(rig.driver.polled.slice(4)).toContainEqual({ id: later.id, at: now + 31_000 });
    await rig.advance(30_000);
    await rig.tasks.stop();
    await rig.expectBalance({ charged: 250 });
  });

  test.each([
    ['a successful poll in between prevents the pause of a channel', 2_000],
    ['throttling more than 10 s ago does not count', 12_000],
  ])('%s', async (_name, pause) => {
    const [first, second, third] = await submitMany(3);
    const read = async (task: { id: string } | undefined) => {
      rig.clock.jump(pause);
      await rig.tasks.read(rig.name(task ?? { id: '' }));
    };
    rig.driver.onPoll = () => {
      throw throttledFor(200);
    };
    await read(first);
    await read(second);
    if (pause < 10_000) {
      rig.driver.onPoll = () => running;
      await rig.submit().then(read);
      rig.driver.onPoll = () => {
        throw throttledFor(200);
      };
    }
    await read(third);
    rig.driver.onPoll = () => running;
    const fourth = await rig.submit();
    rig.driver.polled.length = 0;
    await read(fourth);
    expect(rig.driver.polled.map(({ id }) => id)).toEqual([fourth.id]);
  });

  test('hanging tasks of one user do not delay tasks of other users', async () => {
    const other = await makeToken(rig.store, { remainQuota: startQuota });
    const caller = { ...rig.order().caller, tokenId: other.id, userId: other.userId };
    const crowded = rig.engine({ pollsPerChannel: 8, timing: { claimGapMs: 0 } });
    await submitMany(20);
    rig.driver.onPoll = ({ userId }) => (userId === other.userId ? running : new Promise(() => {}));
    await crowded.start();
    await rig.advance(1_000);
    expect(rig.driver.polled).toHaveLength(4);
    const late = (await crowded.submit(rig.order({ caller }))).task;
    const [early] = await Promise.all(
      Array.from({ length: 3 }, async () => (await crowded.submit(rig.order({ caller }))).task),
    );
    await rig.advance(40_000);
    const times = (id = '') => rig.driver.polled.filter((one) => one.id === id).map(({ at }) => at - now);
    const undisturbed = [2_000, 3_000, 4_500, 6_750, 10_125, 15_188, 22_783, 34_176];
    expect([times(late.id), times(early?.id)]).toEqual([undisturbed, undisturbed]);
    // The hanging tasks are still polled, four at a time.
    const hanging = rig.driver.polled.filter(({ at }) => at - now === 16_000);
    expect(hanging).toHaveLength(4);
    await stopAtOnce(crowded);
  });

  test('two users share the slots of a channel: the second gets half of the remaining ones', async () => {
    const other = await makeToken(rig.store, { remainQuota: startQuota });
    const caller = { ...rig.order().caller, tokenId: other.id, userId: other.userId };
    const engine = rig.engine({ pollsPerChannel: 16 });
    const submitted = await submitMany(20);
    const ends = hangPolls();
    await engine.start();
    await rig.advance(1_000);
    expect(ends).toHaveLength(8);
    await Promise.all(Array.from({ length: 20 }, () => engine.submit(rig.order({ caller }))));
    await rig.advance(1_000);
    expect(ends).toHaveLength(12);
    // A reader gets no slot that a claim would not get.
    rig.clock.jump(5_000);
    const asked = new Set(rig.driver.polled.map(({ id }) => id));
    const waiting = submitted.find(({ id }) => !asked.has(id));
    await engine.read(rig.name(waiting ?? { id: '' }));
    expect(ends).toHaveLength(12);
    await stopAtOnce(engine);
  });

  test('two pollers never claim the same task', async () => {
    const [left, right] = [rig.engine(), rig.engine()];
    const tasks = await submitMany(100);
    rig.driver.onPoll = () => done;
    rig.clock.jump(1_000);
    const counts = await Promise.all([left.runDue(), right.runDue(), left.runDue(), right.runDue()]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(100);
    expect(new Set(rig.driver.polled.map(({ id }) => id)).size).toBe(100);
    expect(rig.driver.polled).toHaveLength(100);
    expect(await rig.log()).toHaveLength(100);
    expect(rig.changes.filter(({ state }) => state === 'completed')).toHaveLength(tasks.length);
    await rig.expectBalance({ charged: 5_000 });
  });

  test.each([
    ['completed', done, { state: 'failed', error: { code: 'late', message: 'Late.' } }, 50],
    ['failed', { state: 'failed', error: { code: 'no', message: 'No.' } }, done, 0],
    ['in_progress', running, done, undefined],
    ['in_progress', running, { state: 'in_progress', progress: 80 }, undefined],
    ['in_progress', running, { state: 'failed', error: { code: 'late', message: 'Late.' } }, undefined],
  ] as [string, Snapshot, Snapshot, number | undefined][])(
    'the result of a poller that was removed is discarded: %s stays',
    async (state, second, late, charged) => {
      const [left, right] = [rig.engine(), rig.engine()];
      const task = await rig.submit();
      const ends = hangPolls();
      rig.clock.jump(1_000);
      const overtaken = left.runDue();
      await rig.settled();
      // An expired claim stays with its owner while that gateway may be alive.
      expect(await rig.step(3_600_000, right)).toBe(0);
      expect(await rig.releaseOrphans()).toBe(1);
      rig.driver.onPoll = () => second;
      expect(await rig.step(0, right)).toBe(1);
      const before = await rig.stored(task);
      expect(before.state).toBe(state);
      ends[0]?.(late);
      expect(await overtaken).toBe(1);
      expect(await rig.stored(task)).toEqual(before);
      await rig.expectBalance(charged === undefined ? { reserved: 50 } : { charged });
    },
  );

  test('polls that end together are written in batches', async () => {
    await submitMany(60);
    let writes = 0;
    const counting = rig.engine({
      store: {
        ...rig.store,
        run: (name, args) => {
          if (name === 'recordPolls') writes += 1;
          return rig.store.run(name, args);
        },
      },
    });
    await rig.step(1_000, counting);
    expect(rig.driver.polled).toHaveLength(60);
    expect(writes).toBeLessThan(5);
  });

  test.each([
    [
      'of an unavailable provider',
      () => driverErrorForStatus(503, new Failure(503, 'get_channel_failed', 'Away.', { retryAfter: 30 })),
      4,
    ],
    [
      'without a duration',
      () => driverErrorForStatus(429, new Failure(429, 'rate_limit_exceeded', 'Busy.')),
      4,
    ],
    ['with a duration', () => throttledFor(30), 3],
  ])('a channel pauses only after three responses with a duration: responses %s', async (_, error, polls) => {
    for (const task of await submitMany(3)) {
      rig.driver.onPoll = () => {
        throw error();
      };
      rig.clock.jump(2_000);
      await rig.tasks.read(rig.name(task));
    }
    rig.driver.onPoll = () => running;
    const later = await rig.submit();
    rig.clock.jump(2_000);
    await rig.tasks.read(rig.name(later));
    expect(rig.driver.polled).toHaveLength(polls);
  });

  test('throttling without a duration does not count towards a pause', async () => {
    const tasks = await submitMany(5);
    for (const [index, task] of tasks.entries()) {
      rig.driver.onPoll = () => {
        throw [1, 2].includes(index)
          ? driverErrorForStatus(429, new Failure(429, 'rate_limit_exceeded', 'Busy.'))
          : throttledFor(60);
      };
      rig.clock.jump(index === 0 ? 2_000 : 100);
      await rig.tasks.read(rig.name(task));
    }
    rig.driver.onPoll = () => running;
    const later = await rig.submit();
    rig.clock.jump(2_000);
    await rig.tasks.read(rig.name(later));
    expect(rig.driver.polled).toHaveLength(5);
  });

  test('a slot is released when the upstream has responded, before the result is written', async () => {
    await submitMany(2);
    const written = Promise.withResolvers<void>();
    const narrow = rig.engine({
      pollsPerChannel: 2,
      store: {
        ...rig.store,
        run: (name, args) =>
          name === 'finishTask'
            ? written.promise.then(() => rig.store.run(name, args))
            : rig.store.run(name, args),
      },
    });
    rig.driver.onPoll = () => done;
    await narrow.start();
    await rig.advance(1_500);
    expect(rig.driver.polled).toHaveLength(2);
    written.resolve();
    await narrow.stop();
    await rig.expectBalance({ charged: 100 });
  });

  test('a final task schedules no claim', async () => {
    rig.driver.onPoll = () => done;
    await rig.tasks.start();
    await rig.submit();
    await rig.advance(1_000);
    rig.commands.length = 0;
    await rig.advance(5_000);
    expect(rig.commands).toEqual([]);
    await rig.tasks.stop();
  });

  test('a gateway without free slots sends no claim to the store', async () => {
    const claims = () => rig.commands.filter((name) => name === 'claimTasks').length;
    const names = ['one'];
    const channels = { names, named: (name: string) => rig.channels.named(name) };
    const tasks = rig.engine({ channels, timing: { idleMs: 1_000 } });
    await submitMany(3);
    rig.driver.onPoll = () => {
      throw throttledFor(30);
    };
    await tasks.start();
    await rig.advance(1_500);
    expect(rig.driver.polled).toHaveLength(3);
    const before = claims();
    await rig.advance(29_499);
    expect(claims()).toBe(before);
    expect(await tasks.runDue()).toBe(0);
    rig.driver.onPoll = () => done;
    await rig.advance(1);
    expect(rig.driver.polled).toHaveLength(6);
    await tasks.stop();
    await rig.expectBalance({ charged: 150 });
  });

  test('no task is lost when the store fails for a while', async () => {
    const task = await rig.submit();
    let broken = true;
    const failing = rig.engine({
      store: {
        ...rig.store,
        run: (name, args) =>
          broken && ['claimTasks', 'finishTask', 'recordPolls'].includes(name)
            ? Promise.reject(new Error('the disk is full'))
            : rig.store.run(name, args),
      },
    });
    rig.driver.onPoll = () => done;
    await failing.start();
    await rig.advance(5_000);
    expect(rig.driver.polled).toEqual([]);
    broken = false;
    await rig.advance(2_000);
    expect(await rig.stored(task)).toMatchObject({ state: 'completed' });
    await failing.stop();
    await rig.expectBalance({ charged: 50 });
  });

  test('an end that could not be recorded is found by the next poll', async () => {
    const task = await rig.submit();
    let full = true;
    const failing = rig.engine({
      store: {
        ...rig.store,
        run: (name, args) =>
          name === 'finishTask' && full
            ? Promise.reject(new Error('the disk is full'))
            : rig.store.run(name, args),
      },
    });
    rig.driver.onPoll = () => done;
    expect(await rig.step(1_000, failing)).toBe(1);
    expect(await rig.stored(task)).toMatchObject({ state: 'queued' });
    full = false;
    expect(await rig.step(29_999, failing)).toBe(0);
    expect(await rig.step(1, failing)).toBe(1);
    expect(await rig.stored(task)).toMatchObject({ state: 'completed' });
    await rig.expectBalance({ charged: 50 });
  });

  test('stopping leaves no pending timer', async () => {
    await rig.tasks.start();
    await rig.submit();
    await rig.advance(1_000);
    await rig.tasks.stop();
    expect(rig.clock.pending).toBe(0);
  });

  test('stopping waits for running polls and releases the rest at once', async () => {
    const [first, second] = await submitMany(2);
    const ends = hangPolls();
    const stopping = rig.engine();
    await stopping.start();
    await rig.advance(1_000);
    expect(ends).toHaveLength(2);
    const stopped = stopping.stop(5_000);
    await rig.advance(1_000);
    ends[0]?.(done);
    await rig.advance(4_000);
    await stopped;
    const states = [await rig.stored(first ?? { id: '' }), await rig.stored(second ?? { id: '' })];
    expect(states.map(({ state }) => state).sort()).toEqual(['completed', 'queued']);
    rig.driver.onPoll = () => done;
    expect(await rig.step(0)).toBe(1);
    await rig.expectBalance({ charged: 100 });
  });

  test('a task whose driver was removed waits for it', async () => {
    const task = await rig.submit();
    const without = rig.engine({ drivers: new Map() });
    expect(await rig.step(1_000, without)).toBe(1);
    expect(await rig.stored(task)).toMatchObject({ state: 'queued', failures: 1 });
    rig.driver.onPoll = () => done;
    await rig.step(1_000);
    await rig.expectBalance({ charged: 50 });
  });

  test('a listener that throws does not affect the task', async () => {
    const throwing = rig.engine({
      onChange: () => {
        throw new Error('a bug');
      },
    });
    await throwing.submit(rig.order());
    rig.driver.onPoll = () => done;
    await rig.step(1_000, throwing);
    await rig.expectBalance({ charged: 50 });
  });
});
