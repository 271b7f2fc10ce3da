import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Failure } from '../../server/failure.ts';
import type { Store } from '../../server/store/store.ts';
import { DriverError, refusedBy, type Snapshot } from '../../server/tasks/driver.ts';
import { engines, Place } from '../store/engines.ts';
import { NOW, Rig } from './rig.ts';
import { driverError } from './scripted-driver.ts';

const done: Snapshot = { state: 'completed', result: {}, usage: { units: 5 } };
const running: Snapshot = { state: 'in_progress', progress: 1 };

describe.each(engines)('polling on %s', (engine) => {
  let place: Place;
  let store: Store;
  let rig: Rig;
  beforeAll(async () => {
    place = await Place.make(engine);
    store = await place.open();
  });
  beforeEach(async () => {
    rig = await Rig.make(place, store);
  });
  afterEach(() => rig.close());
  afterAll(() => place.remove());

  const pauses = () => rig.driver.polled.map(({ at }, index, all) => at - (all[index - 1]?.at ?? NOW));
  const submitMany = (count: number, channel = 'one') =>
    Promise.all(Array.from({ length: count }, () => rig.submit({ channels: [rig.channel(channel)] })));

  /** A driver call that hangs until the test ends it. */
  const hangs = () => {
    const ends: ((snapshot: Snapshot) => void)[] = [];
    rig.driver.onPoll = () =>
      new Promise((resolve) => {
        ends.push(resolve);
      });
    return ends;
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

  test('waits at least as long as the upstream asks for', async () => {
    rig.driver.onSubmit = (task) => ({ ...rig.driver.make(task), pollAfterMs: 4_000 });
    rig.driver.onPoll = () => ({ state: 'queued', pollAfterMs: 6_000 });
    await rig.tasks.start();
    await rig.submit();
    await rig.advance(17_000);
    expect(pauses()).toEqual([4_000, 6_000, 6_000]);
    await rig.tasks.stop();
  });

  test('waits longer after each error, up to a minute, and goes on as before when it is over', async () => {
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
    expect(rig.driver.polled.map(({ at }) => at - NOW)).toEqual([244_000, 245_000, 246_500]);
    expect(await rig.stored(task)).toMatchObject({ state: 'in_progress', failures: 0 });
    await rig.tasks.stop();
  });

  test('a driver that hangs is given up, even if it heeds no signal', async () => {
    hangs();
    await rig.tasks.start();
    const task = await rig.submit();
    await rig.advance(15_999);
    expect(rig.driver.polled).toHaveLength(1);
    await rig.advance(1);
    expect(await rig.stored(task)).toMatchObject({ failures: 1, lease_owner: null });
    expect(rig.channel('one').health.healthy).toBe(true);
    rig.driver.onPoll = () => done;
    await rig.advance(1_000);
    expect(await rig.stored(task)).toMatchObject({ state: 'completed' });
    await rig.tasks.stop();
    await rig.expectBooks({ charged: 50 });
  });

  test('asks each channel about so many tasks at a time, whatever the others do', async () => {
    const narrow = rig.engine({ pollsPerChannel: 3 });
    await submitMany(8);
    await submitMany(2, 'two');
    const slow = hangs();
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
    await rig.expectBooks({ charged: 500 });
  });

  test('goes on when places become free while it claims', async () => {
    await submitMany(9);
    const slow = hangs();
    const narrow = rig.engine({
      pollsPerChannel: 3,
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
    await rig.expectBooks({ charged: 450 });
  });

  test('a throttled channel is left alone for as long as it asks', async () => {
    await submitMany(3);
    await submitMany(1, 'two');
    const busy = new Failure(429, 'busy', 'Busy.', { retryAfter: 30 });
    rig.driver.onPoll = (_task, { channel }) => {
      if (channel.name === 'one') throw refusedBy(429, busy);
      return running;
    };
    await rig.tasks.start();
    await rig.advance(30_900);
    const asked = new Set(rig.driver.polled.map(({ at }) => at - NOW));
    const throttled = await rig.store.read
      .selectFrom('tasks')
      .select('failures')
      .where('channel', '=', 'one')
      .execute();
    expect(throttled.map(({ failures }) => failures)).toEqual([1, 1, 1]);
    expect(asked.size).toBeGreaterThan(5);
    rig.driver.onPoll = () => done;
    await rig.advance(20_000);
    await rig.tasks.stop();
    await rig.expectBooks({ charged: 200 });
  });

  test('a channel that is down is asked about one task at a time', async () => {
    await submitMany(20);
    rig.driver.onPoll = () => {
      throw new DriverError('unknown', new Failure(502, 'down', 'Down.'), { channelFailed: true });
    };
    expect(await rig.step(1_000)).toBe(20);
    expect(await rig.step(1_000)).toBe(1);
    rig.driver.onPoll = () => done;
    expect(await rig.step(1_000)).toBe(1);
    expect(await rig.step(1)).toBe(18);
    expect(await rig.step(1_000)).toBe(1);
    await rig.expectBooks({ charged: 1_000 });
  });

  test('two pollers never take the same task', async () => {
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
    await rig.expectBooks({ charged: 5_000 });
  });

  test.each([
    ['completed', done, { state: 'failed', error: { code: 'late', message: 'Late.' } }, 50],
    ['failed', { state: 'failed', error: { code: 'no', message: 'No.' } }, done, 0],
    ['in_progress', running, done, undefined],
    ['in_progress', running, { state: 'in_progress', progress: 80 }, undefined],
  ] as [string, Snapshot, Snapshot, number | undefined][])(
    'what a poller finds after its lease is over counts no more: %s stays',
    async (state, second, late, charged) => {
      const [left, right] = [rig.engine(), rig.engine()];
      const task = await rig.submit();
      const ends = hangs();
      rig.clock.jump(1_000);
      const overtaken = left.runDue();
      await rig.settled();
      expect(await rig.step(29_999, right)).toBe(0);
      rig.driver.onPoll = () => second;
      expect(await rig.step(1, right)).toBe(1);
      const before = await rig.stored(task);
      expect(before.state).toBe(state);
      ends[0]?.(late);
      expect(await overtaken).toBe(1);
      expect(await rig.stored(task)).toEqual(before);
      await rig.expectBooks(charged === undefined ? { held: 50 } : { charged });
    },
  );

  test('polls that end together are written together', async () => {
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

  test('a store that fails for a while loses nothing', async () => {
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
    await rig.expectBooks({ charged: 50 });
  });

  test('an end that could not be written is found again', async () => {
    const task = await rig.submit();
    const failing = rig.engine({
      store: {
        ...rig.store,
        run: (name, args) =>
          name === 'finishTask' ? Promise.reject(new Error('the disk is full')) : rig.store.run(name, args),
      },
    });
    rig.driver.onPoll = () => done;
    expect(await rig.step(1_000, failing)).toBe(1);
    expect(await rig.stored(task)).toMatchObject({ state: 'queued' });
    expect(await rig.step(30_000)).toBe(1);
    expect(await rig.stored(task)).toMatchObject({ state: 'completed' });
    await rig.expectBooks({ charged: 50 });
  });

  test('stopping waits for what runs, and leaves the rest to others at once', async () => {
    const [first, second] = await submitMany(2);
    const ends = hangs();
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
    await rig.expectBooks({ charged: 100 });
  });

  test('a task whose driver there is no more waits for it', async () => {
    const task = await rig.submit();
    const without = rig.engine({ drivers: new Map() });
    expect(await rig.step(1_000, without)).toBe(1);
    expect(await rig.stored(task)).toMatchObject({ state: 'queued', failures: 1 });
    rig.driver.onPoll = () => done;
    await rig.step(1_000);
    await rig.expectBooks({ charged: 50 });
  });

  test('a listener that fails does no harm', async () => {
    const careless = rig.engine({
      onChange: () => {
        throw new Error('a bug');
      },
    });
    await careless.submit(rig.order());
    rig.driver.onPoll = () => done;
    await rig.step(1_000, careless);
    await rig.expectBooks({ charged: 50 });
  });
});

describe.runIf(engines.includes('sqlite'))('a new start on sqlite', () => {
  test('takes over what the process before it had under a lease', async () => {
    const place = await Place.make('sqlite');
    const rig = await Rig.make(place, await place.open());
    const task = await rig.submit();
    rig.driver.onPoll = () => new Promise(() => {});
    rig.clock.jump(1_000);
    void rig.engine().runDue();
    await rig.settled();
    expect((await rig.stored(task)).lease_owner).toMatch(/^gateway_/);
    rig.driver.onPoll = () => done;
    await rig.tasks.start();
    await rig.advance(0);
    expect(await rig.stored(task)).toMatchObject({ state: 'completed' });
    await rig.tasks.stop();
    await rig.close();
    await place.remove();
  });
});
