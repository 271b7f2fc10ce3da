import { beforeEach, describe, expect, test } from 'vitest';
import type { TaskPoll } from '../../server/store/commands/task-polls.ts';
import { engines } from '../store/engines.ts';
import { now, TaskHarness } from './harness.ts';

const hour = 3_600_000;

describe.each(engines)('claims of tasks on %s', (engine) => {
  let rig: TaskHarness;
  let id: string;
  TaskHarness.eachTest(engine, (made) => {
    rig = made;
  });
  beforeEach(async () => {
    ({ id } = await rig.submit());
  });

  const claim = async (owner: string, at: number, except: string[] = []) => {
    const channels = [{ channel: 'one', free: 9, users: [] }];
    const { tasks } = await rig.store.run('claimTasks', { owner, now: at, until: at + 9, except, channels });
    return tasks.map(({ attempt }) => attempt);
  };
  const record = (attempt: number) => {
    const poll: TaskPoll = {
      id,
      attempt,
      state: 'in_progress',
      progress: 40,
      result: null,
      failures: 0,
      pollInterval: 2_000,
      polledAt: now,
      nextPollAt: now + hour,
      now,
    };
    return rig.store.run('recordPolls', [poll]);
  };

  test('an expired claim stays with its owner', async () => {
    const { attempt } = await rig.stored({ id });
    expect(await claim('one', now + hour)).toEqual([attempt + 1]);
    expect(await rig.stored({ id })).toMatchObject({
      lease_owner: 'one',
      next_poll_at: now + hour + 9,
      attempt: attempt + 1,
    });
    expect(await claim('two', now + 2 * hour)).toEqual([]);
    // Its owner claims overdue tasks again, except those it is still submitting.
    expect(await claim('one', now + 2 * hour, [id])).toEqual([]);
    expect(await claim('one', now + 2 * hour)).toEqual([attempt + 2]);
    const early = { id, owner: 'two', until: now };
    expect(await rig.store.run('claimTask', { ...early, attempt: attempt + 2 })).toBeUndefined();
  });

  test('only the latest claim can record a poll, which ends the claim', async () => {
    const [first = 0] = await claim('one', now + hour);
    const [second = 0] = await claim('one', now + 2 * hour);
    expect(await record(first)).toEqual([false]);
    expect(await rig.stored({ id })).toMatchObject({ lease_owner: 'one', state: 'queued', progress: 0 });
    expect(await record(second)).toEqual([true]);
    expect(await rig.stored({ id })).toMatchObject({
      lease_owner: null,
      state: 'in_progress',
      progress: 40,
      next_poll_at: now + hour,
    });
  });

  test('a released claim cannot record a poll', async () => {
    const [first = 0] = await claim('one', now + hour);
    expect(await rig.store.run('releaseTasks', { owner: 'two', now })).toBe(0);
    expect(await rig.store.run('releaseTasks', { owner: 'one', now })).toBe(1);
    expect(await record(first)).toEqual([false]);
    expect(await rig.stored({ id })).toMatchObject({ lease_owner: null, next_poll_at: now, progress: 0 });
  });

  test('a task is claimed early only with its current attempt', async () => {
    const { attempt } = await rig.stored({ id });
    const one = { id, owner: 'one', until: now + 9 };
    expect(await rig.store.run('claimTask', { ...one, attempt: attempt + 1 })).toBeUndefined();
    expect(await rig.store.run('claimTask', { ...one, attempt })).toMatchObject({ attempt: attempt + 1 });
    expect(await rig.stored({ id })).toMatchObject({ lease_owner: 'one', next_poll_at: now + 9 });
    expect(await claim('two', now + hour)).toEqual([]);
    expect(await record(attempt)).toEqual([false]);
  });
});
