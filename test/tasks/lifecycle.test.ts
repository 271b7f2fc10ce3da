import { describe, expect, test } from 'vitest';
import { pageTasks } from '../../server/store/queries/tasks.ts';
import type { Snapshot } from '../../server/tasks/driver.ts';
import { engines } from '../store/engines.ts';
import { now, TaskHarness } from './harness.ts';
import { driverError } from './scripted-driver.ts';

const done: Snapshot = { state: 'completed', result: { url: 'https://files.example/clip.mp4' } };
const day = 86_400_000;

describe.each(engines)('a task and its owner on %s', (engine) => {
  let rig: TaskHarness;
  TaskHarness.eachTest(engine, (made) => {
    rig = made;
  });

  describe('reading', () => {
    test('is limited to the owner and the format of the creation', async () => {
      const task = await rig.submit();
      expect(await rig.tasks.read(rig.name(task))).toMatchObject({ id: task.id });
      for (const name of [
        rig.name(task, { userId: rig.token.userId + 1 }),
        rig.name(task, { format: 'generic' }),
        rig.name({ id: 'up-1' }),
        rig.name({ id: 'task_00000000000000000000000000000000' }),
      ]) {
        expect(await rig.tasks.read(name)).toBeUndefined();
        expect(await rig.tasks.cancel(name)).toBeUndefined();
        expect(await rig.tasks.remove(name)).toBe('not_found');
      }
    });

    test('a stale task polls once for any number of readers', async () => {
      const task = await rig.submit();
      rig.driver.onPoll = () => ({ state: 'in_progress', progress: 30 });
      rig.clock.jump(1_999);
      expect(await rig.tasks.read(rig.name(task))).toMatchObject({ progress: 0 });
      expect(rig.driver.polled).toEqual([]);
      rig.clock.jump(1);
      const read = await Promise.all(Array.from({ length: 50 }, () => rig.tasks.read(rig.name(task))));
      expect(rig.driver.polled).toHaveLength(1);
      expect(rig.clock.pending).toBe(0);
      expect(new Set(read.map((one) => one?.progress))).toEqual(new Set([30]));
      // An early poll does not lengthen the interval.
      expect(await rig.stored(task)).toMatchObject({ poll_interval: 1_000, next_poll_at: now + 3_000 });
    });

    test('several tasks polls each once and omits tasks of other owners', async () => {
      const tasks = [await rig.submit(), await rig.submit()];
      const foreign = await rig.submit({ format: 'generic' });
      rig.driver.onPoll = () => ({ state: 'in_progress', progress: 30 });
      const { userId } = rig.token;
      const ids = [...tasks, foreign, { id: 'none' }].map(({ id }) => id);
      const read = (change = {}) => rig.tasks.readAll({ ids, userId, format: 'videos', ...change });
      rig.clock.jump(2_000);
      const both = (await Promise.all([read(), read()])).flat();
      expect(rig.driver.polled.map(({ id }) => id).toSorted()).toEqual(tasks.map(({ id }) => id).toSorted());
      expect(both.map(({ progress }) => progress)).toEqual([30, 30, 30, 30]);
      expect(await read({ userId: userId + 1 })).toEqual([]);
      expect(await read({ ids: [] })).toEqual([]);
    });

    test('a task whose poll ends during the read does not poll again', async () => {
      const queryReturned = Promise.withResolvers<void>();
      const read = rig.store.read.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: ({ result }) => queryReturned.promise.then(() => result),
      });
      const engine = rig.engine({ store: { ...rig.store, read } });
      const task = await rig.submit();
      const polled = Promise.withResolvers<Snapshot>();
      rig.driver.onPoll = () => polled.promise;
      const due = rig.step(2_000, engine);
      await rig.settled();
      const answer = engine.read(rig.name(task));
      await rig.settled();
      polled.resolve({ state: 'in_progress', progress: 30 });
      await due;
      queryReturned.resolve();
      expect(await answer).toMatchObject({ progress: 30 });
      expect(rig.driver.polled).toHaveLength(1);
    });

    test('joins a poll in flight', async () => {
      const task = await rig.submit();
      let end: (snapshot: Snapshot) => void = () => {};
      rig.driver.onPoll = () =>
        new Promise((resolve) => {
          end = resolve;
        });
      const polled = rig.step(2_000);
      await rig.settled();
      const read = rig.tasks.read(rig.name(task));
      await rig.settled();
      end(done);
      expect(await read).toMatchObject({ state: 'completed' });
      expect(rig.driver.polled).toHaveLength(1);
      await polled;
    });

    test('waits for at most a second', async () => {
      const task = await rig.submit();
      rig.driver.onPoll = () => new Promise(() => {});
      rig.clock.jump(2_000);
      const read = rig.tasks.read(rig.name(task));
      await rig.advance(1_000);
      expect(await read).toMatchObject({ state: 'queued' });
    });

    test('a task without news takes one query and no command', async () => {
      const fresh = await rig.submit();
      const failing = await rig.submit();
      rig.driver.onPoll = ({ id }) => {
        if (id === failing.id) throw driverError('retryable');
        return { state: 'in_progress' };
      };
      await rig.step(2_000);
      const final = await rig.submit();
      await rig.tasks.cancel(rig.name(final));
      for (const task of [fresh, failing, final]) {
        if (task !== fresh) rig.clock.jump(60_000);
        const [queries, commands] = [rig.queries, rig.commands.length];
        await rig.tasks.read(rig.name(task));
        expect([rig.queries - queries, rig.commands.length - commands]).toEqual([1, 0]);
      }
    });

    test('does not poll a task that is final, claimed elsewhere, failing, or not accepted yet', async () => {
      const [final, taken, failing] = [await rig.submit(), await rig.submit(), await rig.submit()];
      rig.driver.onPoll = ({ id }) => {
        if (id === failing.id) throw driverError('retryable');
        return id === final.id ? done : new Promise<Snapshot>(() => {});
      };
      rig.clock.jump(1_000);
      void rig.engine().runDue();
      await rig.settled();
      expect(rig.driver.polled).toHaveLength(3);
      rig.driver.onSubmit = () => new Promise(() => {});
      void rig.submit();
      await rig.settled();
      const submitting = { id: rig.driver.submitted.at(-1)?.id ?? '' };
      rig.clock.jump(7_000);
      for (const task of [final, taken, failing, submitting]) await rig.tasks.read(rig.name(task));
      expect(rig.driver.polled).toHaveLength(3);
      expect(rig.driver.submitted).toHaveLength(4);
    });
  });

  describe('canceling', () => {
    test('ends a queued task and refunds its reservation', async () => {
      const task = await rig.submit();
      rig.driver.onCancel = (_task, { channel, user, signal }) => {
        expect([channel.name, user, signal.aborted]).toEqual(['one', rig.token.userId, false]);
      };
      const canceled = await rig.tasks.cancel(rig.name(task));
      expect(canceled).toMatchObject({
        canceled: true,
        task: {
          state: 'failed',
          error: { code: 'task_canceled', message: 'The task was canceled before it began.' },
          completedAt: now,
        },
      });
      expect(rig.driver.canceled).toEqual(['up-1']);
      expect(rig.changes.at(-1)).toEqual({ id: task.id, state: 'failed', progress: 0 });
      expect(await rig.tasks.cancel(rig.name(task))).toMatchObject({ canceled: false });
      expect(await rig.step(15_000)).toBe(0);
      await rig.expectBalance({});
    });

    test('has no effect on a running or final task, or if the upstream refuses', async () => {
      const task = await rig.submit();
      rig.driver.onCancel = () => {
        throw driverError('rejected');
      };
      expect(await rig.tasks.cancel(rig.name(task))).toMatchObject({
        canceled: false,
        task: { state: 'queued' },
      });
      rig.driver.onPoll = () => ({ state: 'in_progress' });
      await rig.step(1_000);
      expect(await rig.tasks.cancel(rig.name(task))).toMatchObject({ canceled: false });
      rig.driver.onPoll = () => done;
      await rig.step(1_000);
      expect(await rig.tasks.cancel(rig.name(task))).toMatchObject({ task: { state: 'completed' } });
      expect(rig.driver.canceled).toHaveLength(1);
      await rig.expectBalance({ charged: 50 });
    });

    test('returns the new state of a task that has started meanwhile', async () => {
      const task = await rig.submit();
      rig.driver.onPoll = () => ({ state: 'in_progress', progress: 9 });
      rig.driver.onCancel = async () => {
        await rig.step(1_000);
        throw driverError('rejected');
      };
      expect(await rig.tasks.cancel(rig.name(task))).toMatchObject({
        canceled: false,
        task: { state: 'in_progress', progress: 9 },
      });
    });

    test('fails if the upstream does not respond, and the task continues', async () => {
      const task = await rig.submit();
      rig.driver.onCancel = () => {
        throw driverError('unknown');
      };
      await expect(rig.tasks.cancel(rig.name(task))).rejects.toMatchObject({ status: 415, code: 'unknown' });
      expect(await rig.stored(task)).toMatchObject({ state: 'queued' });
      await rig.expectBalance({ reserved: 50 });
    });

    test('succeeds if a poll or another cancellation runs at the same time', async () => {
      const [polled, asked] = [await rig.submit(), await rig.submit()];
      const found = Promise.withResolvers<Snapshot>();
      rig.driver.onPoll = () => found.promise;
      let poll: Promise<number> | undefined;
      rig.driver.onCancel = async () => {
        poll ??= rig.step(1_000);
        await rig.settled();
      };
      expect(await rig.tasks.cancel(rig.name(polled))).toMatchObject({ canceled: true });
      found.resolve({ state: 'in_progress' });
      await poll;
      expect(await rig.stored(polled)).toMatchObject({ error_code: 'task_canceled' });
      rig.driver.onCancel = () => {};
      const late = await rig.submit();
      const both = await Promise.all([1, 2].map(() => rig.tasks.cancel(rig.name(late))));
      expect(both.map((result) => result?.canceled)).toEqual([true, true]);
      expect(await rig.stored(asked)).toMatchObject({ state: 'in_progress' });
      await rig.expectBalance({ reserved: 50 });
    });

    test('is refused if the upstream cannot cancel tasks', async () => {
      const task = await rig.submit();
      const { submit, poll } = rig.driver;
      const driver = { submit: submit.bind(rig.driver), poll: poll.bind(rig.driver) };
      const unable = rig.engine({ drivers: new Map([['scripted', driver]]) });
      expect(await unable.cancel(rig.name(task))).toMatchObject({ canceled: false });
    });

    test('settles once if a poll finds the cancellation at the same time', async () => {
      const task = await rig.submit();
      let end: (snapshot: Snapshot) => void = () => {};
      rig.driver.onPoll = () =>
        new Promise((resolve) => {
          end = resolve;
        });
      const polled = rig.step(1_000);
      await rig.settled();
      const canceled = await rig.tasks.cancel(rig.name(task));
      end({ state: 'failed', error: { code: 'CANCELED', message: 'Canceled.' } });
      await polled;
      expect(canceled).toMatchObject({ canceled: true });
      expect(await rig.stored(task)).toMatchObject({ error_code: 'task_canceled' });
      expect(await rig.log()).toHaveLength(1);
      await rig.expectBalance({});
    });
  });

  test('a task that is not final at its deadline is polled once more, then it expires', async () => {
    const [lost, saved] = [await rig.submit({ lifetimeMs: 5_000 }), await rig.submit({ lifetimeMs: 5_000 })];
    const failing = await rig.submit({ lifetimeMs: 5_000 });
    rig.driver.onPoll = ({ id }) => {
      if (id === failing.id) throw driverError('retryable');
      return { state: 'in_progress', progress: 9 };
    };
    await rig.tasks.start();
    await rig.advance(4_999);
    const before = rig.driver.polled.length;
    rig.driver.onPoll = ({ id }) => {
      if (id === failing.id) throw driverError('retryable');
      return id === saved.id ? done : { state: 'in_progress', progress: 10 };
    };
    await rig.advance(1);
    expect(rig.driver.polled.slice(before)).toHaveLength(3);
    for (const task of [lost, failing]) {
      expect(await rig.stored(task)).toMatchObject({
        state: 'failed',
        error_code: 'task_expired',
        error_message: 'The task was not finished in time.',
        completed_at: now + 5_000,
      });
    }
    expect(await rig.stored(saved)).toMatchObject({ state: 'completed' });
    expect(rig.driver.canceled.toSorted()).toEqual(['up-1', 'up-3']);
    await rig.tasks.stop();
    await rig.expectBalance({ charged: 50 });
  });

  test('an expired task whose upstream cannot cancel it continues there, and a failed cancellation is logged', async () => {
    const task = await rig.submit({ lifetimeMs: 5_000 });
    rig.driver.onCancel = (_task, { channel, user, signal }) => {
      expect([channel.name, user, signal.aborted]).toEqual(['one', rig.token.userId, false]);
      throw driverError('unknown');
    };
    await rig.step(5_000);
    expect(rig.lines).toEqual([
      expect.objectContaining({ level: 40, task: task.id, channel: 'one', kind: 'unknown' }),
    ]);
    const { submit, poll } = rig.driver;
    const driver = { submit: submit.bind(rig.driver), poll: poll.bind(rig.driver) };
    const other = await rig.submit({ lifetimeMs: 5_000 });
    await rig.step(5_000, rig.engine({ drivers: new Map([['scripted', driver]]) }));
    for (const one of [task, other])
      expect(await rig.stored(one)).toMatchObject({ error_code: 'task_expired' });
    expect(rig.lines).toHaveLength(1);
    await rig.expectBalance({});
  });

  test('a task whose channel was removed waits for it until its deadline', async () => {
    const task = await rig.submit({ channels: [rig.channel('two')], lifetimeMs: day });
    const without = rig.engine({ channels: { names: ['one'], named: () => undefined } });
    expect(await rig.step(day - 1, without)).toBe(0);
    expect(await without.runHousekeeping()).toEqual({ pruned: 0, expired: 0 });
    rig.clock.jump(1);
    expect(await rig.tasks.runHousekeeping()).toEqual({ pruned: 0, expired: 0 });
    expect(await without.runHousekeeping()).toEqual({ pruned: 0, expired: 1 });
    expect(await rig.stored(task)).toMatchObject({ state: 'failed', error_code: 'task_expired' });
    await rig.expectBalance({});
  });

  test('final tasks are kept for a week, then deleted in batches', async () => {
    rig.driver.onPoll = () => done;
    await Promise.all(Array.from({ length: 60 }, () => rig.submit()));
    await rig.step(1_000);
    const open = await rig.submit({ lifetimeMs: 30 * day });
    rig.clock.jump(7 * day - 1);
    const later = rig.engine();
    expect(await later.runHousekeeping()).toMatchObject({ pruned: 0 });
    rig.clock.jump(1);
    const finalBy = now + 1_000;
    expect(await rig.store.run('pruneTasks', { finalBy, limit: 25 })).toBe(25);
    expect(await later.runHousekeeping()).toMatchObject({ pruned: 35 });
    const left = await rig.store.read.selectFrom('tasks').select('id').execute();
    expect(left).toEqual([{ id: open.id }]);
    expect(await rig.reservations()).toHaveLength(61);
    await rig.expectBalance({ reserved: 50, charged: 3_000 });
  });

  test('a started engine runs housekeeping periodically', async () => {
    rig.driver.onPoll = () => done;
    const keeping = rig.engine({ timing: { keepMs: 1_500, housekeepingMs: 1_000 } });
    await keeping.start();
    await keeping.submit(rig.order());
    const kept = () => rig.store.read.selectFrom('tasks').select('id').execute();
    await rig.advance(2_000);
    expect(await kept()).toHaveLength(1);
    await rig.advance(1_000);
    expect(await kept()).toEqual([]);
    await keeping.stop();
  });

  test('only final tasks can be removed', async () => {
    const task = await rig.submit({ idempotencyKey: 'k' });
    expect(await rig.tasks.remove(rig.name(task))).toBe('not_final');
    rig.driver.onPoll = () => done;
    await rig.step(1_000);
    expect(await rig.tasks.remove(rig.name(task))).toBe('removed');
    expect(await rig.tasks.remove(rig.name(task))).toBe('not_found');
    expect(await rig.tasks.read(rig.name(task))).toBeUndefined();
    await rig.expectBalance({ charged: 50 });
  });

  describe('listing', () => {
    const owner = () => ({ userId: rig.token.userId, format: 'videos' as const });

    test('pages in both orders through tasks with the same creation time', async () => {
      const submitted: string[] = [];
      for (let index = 0; index < 9; index += 1) {
        if (index % 3 === 0) rig.clock.jump(1);
        submitted.push((await rig.submit()).id);
      }
      await rig.submit({ format: 'generic' });
      for (const order of ['asc', 'desc'] as const) {
        const seen: string[] = [];
        for (let after: string | undefined; ; after = seen.at(-1)) {
          const page = await rig.tasks.list({
            ...owner(),
            order,
            limit: 4,
            ...(after === undefined ? {} : { after }),
          });
          seen.push(...(page?.tasks ?? []).map(({ id }) => id));
          if (page?.hasMore !== true) break;
        }
        expect(seen.toSorted()).toEqual(submitted.toSorted());
        const rows = await Promise.all(seen.map((id) => rig.stored({ id })));
        const times = rows.map(({ created_at }) => created_at);
        expect(times).toEqual(
          times.toSorted((left, right) => (order === 'asc' ? left - right : right - left)),
        );
      }
    });

    test('accepts only cursors of the owner', async () => {
      const other = await rig.submit({ format: 'generic' });
      expect(await rig.tasks.list({ ...owner(), limit: 1, after: other.id })).toBeUndefined();
      expect(await rig.tasks.list({ ...owner(), limit: 1 })).toEqual({ tasks: [], hasMore: false });
    });

    test('filters and counts', async () => {
      const [first, second, third] = [await rig.submit(), await rig.submit(), await rig.submit()];
      await rig.submit({ model: { id: 'gamma3.0-video-prime', unit: 'seconds' } });
      await rig.tasks.cancel(rig.name(first));
      rig.driver.onPoll = ({ id }) =>
        id === second.id ? done : { state: 'failed', error: { code: 'no', message: 'No.' } };
      await rig.step(1_000);
      const ids = async (filter: object) => {
        const { tasks, total } = await rig.tasks.page({ ...owner(), offset: 0, limit: 10, ...filter });
        expect(tasks).toHaveLength(total);
        return tasks.map(({ id }) => id).toSorted();
      };
      const model = ['gamma3.0-video'];
      expect(await ids({ models: model })).toHaveLength(3);
      expect(await ids({ states: ['completed'] })).toEqual([second.id]);
      expect(await ids({ states: ['queued', 'in_progress'] })).toEqual([]);
      expect(await ids({ errorCodes: ['task_canceled'] })).toEqual([first.id]);
      expect(await ids({ models: model, exceptErrorCodes: ['task_canceled'] })).toEqual(
        [second.id, third.id].toSorted(),
      );
      expect(await ids({ exceptErrorCodes: [] })).toHaveLength(4);
      expect(await ids({ ids: [third.id, first.id, 'task_x'] })).toEqual([first.id, third.id].toSorted());
      expect(await ids({ ids: [] })).toEqual([]);
      expect(await ids({ createdFrom: now + 1 })).toEqual([]);
      expect(await rig.tasks.page({ ...owner(), offset: 3, limit: 10 })).toMatchObject({ total: 4 });
    });

    test('matches tiers, models and ids exactly, and never in client data', async () => {
      const flex = await rig.submit({ serviceTier: 'flex', facts: { service_tier: 'flex' } });
      const usual = await rig.submit({ serviceTier: 'default', facts: { service_tier: 'default' } });
      const others = [
        await rig.submit(),
        await rig.submit({ facts: { prompt: '"service_tier":"flex"' } }),
        await rig.submit({ facts: { service_tier: 'FLEX' } }),
      ];
      const ids = async (filter: object) =>
        (await rig.tasks.page({ ...owner(), offset: 0, limit: 10, ...filter })).tasks.map(({ id }) => id);
      expect(await ids({ serviceTier: 'flex' })).toEqual([flex.id]);
      expect((await ids({ serviceTier: 'default' })).toSorted()).toEqual(
        [usual, ...others].map(({ id }) => id).toSorted(),
      );
      for (const filter of [
        { models: ['GAMMA3.0-video'] },
        { models: ['gamma3.0%'] },
        { ids: [flex.id.toUpperCase()] },
      ])
        expect(await ids(filter)).toEqual([]);
    });

    test('reads no more rows than its pages can show', async () => {
      const submitted: string[] = [];
      for (let index = 0; index < 5; index += 1) {
        if (index !== 3) rig.clock.jump(1);
        submitted.push((await rig.submit({ model: { id: `model-${index}`, unit: 'seconds' } })).id);
      }
      // The third and fourth task have the same creation time, so their ids decide.
      const newest = [
        submitted[4],
        ...submitted.slice(2, 4).toSorted().reverse(),
        submitted[1],
        submitted[0],
      ];
      for (const within of [1, 2, 3, 4, 5, 6]) {
        const query = { ...owner(), offset: 0, limit: 10 };
        const { tasks, total } = await pageTasks(rig.store.read, query, within);
        expect(tasks.map(({ id }) => id)).toEqual(newest.slice(0, within));
        expect(total).toBe(Math.min(within, 5));
      }
      const oldest = { ...owner(), models: ['model-0'], offset: 0, limit: 10 };
      expect(await pageTasks(rig.store.read, oldest, 4)).toEqual({ tasks: [], total: 0 });
      expect(await pageTasks(rig.store.read, oldest, 5)).toMatchObject({ total: 1 });
    });
  });
});
