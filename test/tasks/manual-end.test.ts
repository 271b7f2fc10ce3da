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
const completed: ManualEnd = { outcome: 'completed', units: 3, result: { video_url: 'manual' } };

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
  const endTask = (id: string, end: ManualEnd, tasks: Tasks = rig.tasks) =>
    tasks.endManually(id, () => ({ end, change: change(id, { outcome: end.outcome }) }));
  const changes = async (id: string) => {
    const rows = rig.store.read.selectFrom('changes').select('details').orderBy('id');
    const found = await rows.where('subject', '=', `task ${id}`).execute();
    return found.map(({ details }) => JSON.parse(details) as unknown);
  };
  const logged = async () =>
    (await rig.log()).map(({ error_code, units, quota }) => ({ error_code, units, quota }));

  test('fail without a charge, with log, callback and change record, and only once', async () => {
    const task = await rig.submit({ format: 'official', callbackUrl: 'https://client.example/hook' });
    expect(await endTask(task.id, failed)).toMatchObject({ ended: true, task: { state: 'failed' } });
    expect(await rig.stored(task)).toMatchObject({ error_code: 'task_lost', error_message: 'It is lost.' });
    expect(await logged()).toEqual([{ error_code: 'task_lost', units: 0, quota: 0 }]);
    const reported = await rig.store.read.selectFrom('deliveries').select('state').orderBy('id').execute();
    expect(reported.map(({ state }) => state)).toEqual(['queued', 'failed']);
    expect(rig.changes.at(-1)).toMatchObject({ id: task.id, state: 'failed' });
    expect(await endTask(task.id, completed)).toMatchObject({ ended: false, task: { state: 'failed' } });
    expect(await changes(task.id)).toEqual([{ outcome: 'failed' }]);
    expect(await rig.step(60_000)).toBe(0);
    await rig.expectBalance({});
  });

  test('are charged at their own price when completed', async () => {
    const task = await rig.submit();
    rig.driver.onPoll = () => ({ state: 'in_progress', progress: 20, result: { early: true } });
    await rig.step(1_000);
    expect(await endTask(task.id, completed)).toMatchObject({
      task: { state: 'completed', progress: 100, result: { video_url: 'manual' } },
    });
    expect(await logged()).toEqual([{ error_code: null, units: 3, quota: 30 }]);
    await rig.expectBalance({ charged: 30 });
  });

  test('keep their current result if none is given', async () => {
    const task = await rig.submit();
    rig.driver.onPoll = () => ({ state: 'in_progress', result: { early: true } });
    await rig.step(1_000);
    const settled = await endTask(task.id, { outcome: 'completed', units: 0 });
    expect(settled).toMatchObject({ task: { state: 'completed', result: { early: true } } });
    await rig.expectBalance({});
  });

  test.each([
    ['fail', failed, 0],
    ['complete', completed, 30],
  ] as const)('%s even if a poll in flight finds another end', async (_, end, charged) => {
    const task = await rig.submit();
    rig.driver.onPoll = async () => {
      await endTask(task.id, end);
      return done;
    };
    await rig.step(1_000);
    expect(await rig.stored(task)).toMatchObject({ state: end.outcome, lease_owner: null });
    expect(await logged()).toHaveLength(1);
    await rig.expectBalance({ charged });
  });

  test('end once with two operators, the owner, another gateway and a poll at the same time', async () => {
    rig.driver.onPoll = () => done;
    const other = rig.engine();
    const submitted = await Promise.all(Array.from({ length: 12 }, () => rig.submit()));
    rig.clock.jump(1_000);
    const attempts = submitted.flatMap((task) => [
      endTask(task.id, failed),
      endTask(task.id, completed, other),
      rig.tasks.cancel(rig.name(task)),
      other.cancelAny(task.id, change(task.id, { outcome: 'canceled' })),
    ]);
    await Promise.allSettled([...attempts, rig.tasks.runDue(), other.runDue()]);
    expect(await rig.log()).toHaveLength(submitted.length);
    let charged = 0;
    for (const task of submitted) {
      const { state, error_code, result } = await rig.stored(task);
      expect(['completed', 'failed']).toContain(state);
      const isManual = result === '{"video_url":"manual"}';
      if (state === 'completed') charged += isManual ? 30 : 40;
      // The operator's change is recorded once. The other operator may have requested a cancellation.
      const ended = (await changes(task.id)).filter((details) => !('asked' in (details as object)));
      const outcome = isManual ? 'completed' : 'failed';
      if (isManual || error_code === 'task_lost') expect(ended).toEqual([{ outcome }]);
      else if (error_code === null) expect(ended).toEqual([]);
    }
    await rig.expectBalance({ charged });
  });

  test('fail during their submission, and the upstream task is canceled', async () => {
    rig.driver.onSubmit = async (task) => {
      await endTask(task.id, failed);
      return rig.driver.make(task);
    };
    expect(await rig.submit()).toMatchObject({ state: 'failed', upstreamId: null });
    expect(rig.driver.canceled).toEqual(['up-1']);
    await rig.expectBalance({});
  });

  test('are read again if a provider accepts them at the same moment', async () => {
    let accept = () => {};
    rig.driver.onSubmit = (task) =>
      new Promise((resolve) => {
        accept = () => resolve(rig.driver.make(task));
      });
    const submitted = rig.submit();
    await rig.settled();
    const { id } = await rig.store.read.selectFrom('tasks').select('id').executeTakeFirstOrThrow();
    const { store } = rig;
    const afterAcceptance = async <T>(next: () => Promise<T>): Promise<T> => {
      accept();
      await submitted;
      return next();
    };
    const late = rig.engine({
      store: {
        ...store,
        run: (name, args) => afterAcceptance(() => store.run(name, args)),
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
    await rig.expectBalance({});
  });

  describe('by cancellation', () => {
    const cancel = (task: { id: string }, tasks = rig.tasks) => tasks.cancelAny(task.id, change(task.id));

    test('are canceled at their provider first, and both steps are recorded', async () => {
      const task = await rig.submit();
      expect(await cancel(task)).toMatchObject({ canceled: true, task: { state: 'failed' } });
      expect(rig.driver.canceled).toEqual(['up-1']);
      expect(await changes(task.id)).toEqual([{ asked: 'one' }, {}]);
      await rig.expectBalance({});
    });

    test('need no request if no provider has them', async () => {
      rig.driver.onSubmit = async (task) => {
        expect(await cancel(task)).toMatchObject({ canceled: true });
        return rig.driver.make(task);
      };
      const task = await rig.submit();
      expect(task).toMatchObject({ state: 'failed', error: { code: 'task_canceled' } });
      expect(await changes(task.id)).toEqual([{}]);
      await rig.expectBalance({});
    });

    test('continue if they run, or their provider cannot cancel them or does not respond', async () => {
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
      await rig.expectBalance({ reserved: 50 });
    });

    test('are not found under an unknown id', async () => {
      expect(await cancel({ id: 'task_nobody' })).toBeUndefined();
      expect(await endTask('task_nobody', failed)).toBeUndefined();
    });
  });
});
