import { describe, expect, test } from 'vitest';
import type { NewChange } from '../../server/store/commands/changes.ts';
import type { TaskRecord } from '../../server/store/queries/tasks.ts';
import type { Snapshot } from '../../server/tasks/driver.ts';
import type { Tasks } from '../../server/tasks/tasks.ts';
import type { ManualEnd } from '../../server/tasks/transitions.ts';
import { engines } from '../store/engines.ts';
import { now, TaskHarness } from './harness.ts';
import { driverError } from './scripted-driver.ts';

const done: Snapshot = { state: 'completed', result: { url: 'clip' }, usage: { units: 4 } };
const failed: ManualEnd = { outcome: 'failed', error: { code: 'task_lost', message: 'It is lost.' } };
const completed: ManualEnd = { outcome: 'completed', units: 3, result: { video_url: 'by hand' } };

describe.each(engines)('tasks that an operator ends on %s', (engine) => {
  let rig: TaskHarness;
  TaskHarness.eachTest(engine, (made) => {
    rig = made;
  });

  const change = (id: string, details: object = {}): NewChange => ({
    userId: 1,
    tokenId: 2,
    action: 'settleTask',
    subject: `task ${id}`,
    details: { ...details },
    now,
  });
  const settle = (id: string, end: ManualEnd, tasks: Tasks = rig.tasks) =>
    tasks.endManually(id, () => ({ end, change: change(id, { outcome: end.outcome }) }));
  const changes = async (id: string) => {
    const rows = rig.store.read.selectFrom('changes').select('details').orderBy('id');
    const found = await rows.where('subject', '=', `task ${id}`).execute();
    return found.map(({ details }) => JSON.parse(details) as unknown);
  };
  const logged = async () =>
    (await rig.log()).map(({ error_code, units, quota }) => ({ error_code, units, quota }));

  test('fail free of charge, with log, callback and record, and never again', async () => {
    const task = await rig.submit({ format: 'official', callbackUrl: 'https://client.example/hook' });
    expect(await settle(task.id, failed)).toMatchObject({ ended: true, task: { state: 'failed' } });
    expect(await rig.stored(task)).toMatchObject({ error_code: 'task_lost', error_message: 'It is lost.' });
    expect(await logged()).toEqual([{ error_code: 'task_lost', units: 0, quota: 0 }]);
    const told = await rig.store.read.selectFrom('deliveries').select('state').orderBy('id').execute();
    expect(told.map(({ state }) => state)).toEqual(['queued', 'failed']);
    expect(rig.changes.at(-1)).toMatchObject({ id: task.id, state: 'failed' });
    expect(await settle(task.id, completed)).toMatchObject({ ended: false, task: { state: 'failed' } });
    expect(await changes(task.id)).toEqual([{ outcome: 'failed' }]);
    expect(await rig.step(60_000)).toBe(0);
    await rig.expectBooks({});
  });

  test('are charged at their own rate when they are complete', async () => {
    const task = await rig.submit();
    rig.driver.onPoll = () => ({ state: 'in_progress', progress: 20, result: { early: true } });
    await rig.step(1_000);
    expect(await settle(task.id, completed)).toMatchObject({
      task: { state: 'completed', progress: 100, result: { video_url: 'by hand' } },
    });
    expect(await logged()).toEqual([{ error_code: null, units: 3, quota: 30 }]);
    await rig.expectBooks({ charged: 30 });
  });

  test('keep what there is of their result when none is given', async () => {
    const task = await rig.submit();
    rig.driver.onPoll = () => ({ state: 'in_progress', result: { early: true } });
    await rig.step(1_000);
    const settled = await settle(task.id, { outcome: 'completed', units: 0 });
    expect(settled).toMatchObject({ task: { state: 'completed', result: { early: true } } });
    await rig.expectBooks({});
  });

  test.each([
    ['fail', failed, 0],
    ['complete', completed, 30],
  ] as const)('%s although a poll is under way that finds out otherwise', async (_, end, charged) => {
    const task = await rig.submit();
    rig.driver.onPoll = async () => {
      await settle(task.id, end);
      return done;
    };
    await rig.step(1_000);
    expect(await rig.stored(task)).toMatchObject({ state: end.outcome, lease_owner: null });
    expect(await logged()).toHaveLength(1);
    await rig.expectBooks({ charged });
  });

  test('end once when two operators, the owner, another gateway and a poll do so at once', async () => {
    rig.driver.onPoll = () => done;
    const other = rig.engine();
    const made = await Promise.all(Array.from({ length: 12 }, () => rig.submit()));
    rig.clock.jump(1_000);
    const attempts = made.flatMap((task) => [
      settle(task.id, failed),
      settle(task.id, completed, other),
      rig.tasks.cancel(rig.name(task)),
      other.cancelAny(task.id, change(task.id, { outcome: 'canceled' })),
    ]);
    await Promise.allSettled([...attempts, rig.tasks.runDue(), other.runDue()]);
    expect(await rig.log()).toHaveLength(made.length);
    let charged = 0;
    for (const task of made) {
      const { state, error_code, result } = await rig.stored(task);
      expect(['completed', 'failed']).toContain(state);
      const byHand = result === '{"video_url":"by hand"}';
      if (state === 'completed') charged += byHand ? 30 : 40;
      // Who has ended it is on record, once; the provider may have been asked by the other.
      const ended = (await changes(task.id)).filter((details) => !('asked' in (details as object)));
      const outcome = byHand ? 'completed' : 'failed';
      if (byHand || error_code === 'task_lost') expect(ended).toEqual([{ outcome }]);
      else if (error_code === null) expect(ended).toEqual([]);
    }
    await rig.expectBooks({ charged });
  });

  test('fail while they are submitted, and what the provider made of them is abandoned', async () => {
    rig.driver.onSubmit = async (task) => {
      await settle(task.id, failed);
      return rig.driver.make(task);
    };
    expect(await rig.submit()).toMatchObject({ state: 'failed', upstreamId: null });
    expect(rig.driver.canceled).toEqual(['up-1']);
    await rig.expectBooks({});
  });

  test('are looked at again when a provider takes them at that very moment', async () => {
    let take = () => {};
    rig.driver.onSubmit = (task) =>
      new Promise((resolve) => {
        take = () => resolve(rig.driver.make(task));
      });
    const submitted = rig.submit();
    await rig.settled();
    const { id } = await rig.store.read.selectFrom('tasks').select('id').executeTakeFirstOrThrow();
    const { store } = rig;
    const taken = async <T>(next: () => Promise<T>): Promise<T> => {
      take();
      await submitted;
      return next();
    };
    const late = rig.engine({
      store: {
        ...store,
        run: (name, args) => taken(() => store.run(name, args)),
      },
    });
    const seen: TaskRecord[] = [];
    await late.endManually(id, (task) => {
      seen.push(task);
      return { end: failed, change: change(id) };
    });
    expect(seen.map(({ upstreamId }) => upstreamId)).toEqual([null, 'up-1']);
    expect(await rig.stored({ id })).toMatchObject({ state: 'failed', upstream_id: 'up-1' });
    expect(await changes(id)).toEqual([{}]);
    await rig.expectBooks({});
  });

  describe('by canceling', () => {
    const cancel = (task: { id: string }, tasks = rig.tasks) => tasks.cancelAny(task.id, change(task.id));

    test('are asked for at their provider first, and both is on record', async () => {
      const task = await rig.submit();
      expect(await cancel(task)).toMatchObject({ canceled: true, task: { state: 'failed' } });
      expect(rig.driver.canceled).toEqual(['up-1']);
      expect(await changes(task.id)).toEqual([{ asked: 'one' }, {}]);
      await rig.expectBooks({});
    });

    test('need no provider that does not have them', async () => {
      rig.driver.onSubmit = async (task) => {
        expect(await cancel(task)).toMatchObject({ canceled: true });
        return rig.driver.make(task);
      };
      const task = await rig.submit();
      expect(task).toMatchObject({ state: 'failed', error: { code: 'task_canceled' } });
      expect(await changes(task.id)).toEqual([{}]);
      await rig.expectBooks({});
    });

    test('go on when they run, or their provider cannot stop them, or does not answer', async () => {
      const task = await rig.submit();
      const { driver } = rig;
      const endless = {
        submit: driver.submit.bind(driver),
        poll: driver.poll.bind(driver),
      };
      const tasks = rig.engine({ drivers: new Map([['scripted', endless]]) });
      expect(await cancel(task, tasks)).toMatchObject({ canceled: false });
      expect(await changes(task.id)).toEqual([]);
      driver.onCancel = () => {
        throw driverError('rejected');
      };
      expect(await cancel(task)).toMatchObject({ canceled: false, task: { state: 'queued' } });
      driver.onCancel = () => {
        throw driverError('unknown');
      };
      await expect(cancel(task)).rejects.toMatchObject({ code: 'unknown' });
      expect(await changes(task.id)).toEqual([{ asked: 'one' }, { asked: 'one' }]);
      driver.onPoll = () => ({ state: 'in_progress' });
      await rig.step(1_000);
      expect(await cancel(task)).toMatchObject({ canceled: false, task: { state: 'in_progress' } });
      await rig.expectBooks({ held: 50 });
    });

    test('are not there under an id that nobody has', async () => {
      expect(await cancel({ id: 'task_nobody' })).toBeUndefined();
      expect(await settle('task_nobody', failed)).toBeUndefined();
    });
  });
});
