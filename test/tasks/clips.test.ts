import { describe, expect, test } from 'vitest';
import type { NewClip } from '../../server/store/commands/clips.ts';
import { findClips } from '../../server/store/queries/clips.ts';
import { engines } from '../store/engines.ts';
import { now, TaskHarness } from './harness.ts';

const clip = (id: string): NewClip => ({ id, upstreamId: `up-${id}`, upstreamTaskId: `task of ${id}` });

describe.each(engines)('the clips of a task on %s', (engine) => {
  let rig: TaskHarness;
  TaskHarness.eachTest(engine, (made) => {
    rig = made;
  });

  const submit = () => rig.submit({ format: 'music' });
  const found = (ids: string[], userId = rig.token.userId) => findClips(rig.store.read, { ids, userId });
  const foundIds = async (ids: string[]) => (await found(ids)).map(({ id }) => id).toSorted();

  test('exist once after the poll that finds them, for the owner only', async () => {
    const task = await submit();
    rig.driver.onPoll = () => ({ state: 'in_progress', clips: [clip('a')] });
    await rig.step(60_000);
    const stored = {
      id: 'a',
      taskId: task.id,
      channel: 'one',
      upstreamId: 'up-a',
      upstreamTaskId: 'task of a',
    };
    expect(await found(['a', 'b'])).toEqual([stored]);
    expect(await found(['a'], rig.token.userId + 1)).toEqual([]);
    expect(await found([])).toEqual([]);
    const changed = { ...clip('a'), upstreamId: 'another' };
    rig.driver.onPoll = () => ({ state: 'completed', result: {}, clips: [changed, clip('b')] });
    await rig.step(60_000);
    expect(await foundIds(['a', 'b'])).toEqual(['a', 'b']);
    expect(await found(['a'])).toEqual([stored]);
  });

  test('of several tasks are written with the same batch of polls, however many there are', async () => {
    const tasks = [await submit(), await submit(), await submit()];
    rig.clock.jump(60_000);
    rig.driver.onPoll = ({ id }) => ({
      state: 'in_progress',
      clips: Array.from({ length: 700 }, (_, index) => clip(`${id} ${index}`)),
    });
    await rig.tasks.runDue();
    const count = await rig.store.read
      .selectFrom('clips')
      .select(['task_id', ({ fn }) => fn.countAll<number>().as('clips')])
      .groupBy('task_id')
      .execute();
    expect(count.map(({ task_id }) => task_id).toSorted()).toEqual(tasks.map(({ id }) => id).toSorted());
    expect(count.map(({ clips }) => clips)).toEqual([700, 700, 700]);
  });

  test('are not written by a superseded claim or for a final task', async () => {
    const task = await submit();
    const { id, attempt } = await rig.stored(task);
    const poll = {
      id,
      state: 'in_progress',
      progress: 50,
      result: null,
      failures: 0,
      pollInterval: 1_000,
      polledAt: now,
      nextPollAt: now,
      now,
      clips: [clip('a')],
    } as const;
    expect(await rig.store.run('recordPolls', [{ ...poll, attempt: attempt + 1 }])).toEqual([false]);
    expect(await found(['a'])).toEqual([]);
    const times = { expiresAt: now, now, dueNow: now };
    const end = { result: null, error: { code: 'c', message: 'm' }, charge: null, ...times };
    await rig.store.run('finishTask', { id, attempt, ...end });
    const again = { ...end, error: null, clips: [clip('a')] };
    expect(await rig.store.run('finishTask', { id, attempt, ...again })).toBeUndefined();
    expect(await rig.store.run('recordPolls', [{ ...poll, attempt }])).toEqual([false]);
    expect(await found(['a'])).toEqual([]);
  });

  test('are deleted with their task', async () => {
    const [first, second] = [await submit(), await submit()];
    rig.driver.onPoll = ({ id }) => ({ state: 'completed', result: {}, clips: [clip(`of ${id}`)] });
    await rig.step(60_000);
    const ids = [first, second].map(({ id }) => `of ${id}`);
    expect(await found(ids)).toHaveLength(2);
    expect(await rig.tasks.remove(rig.name(first, { format: 'music' }))).toBe('removed');
    expect(await foundIds(ids)).toEqual([`of ${second.id}`]);
    await rig.store.run('pruneTasks', { finalBy: now + 3_600_000, limit: 10 });
    expect(await found(ids)).toEqual([]);
  });
});
