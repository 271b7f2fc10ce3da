import { beforeEach, describe, expect, test } from 'vitest';
import type { TaskPoll } from '../../server/store/commands/task-polls.ts';
import type { Store } from '../../server/store/store.ts';
import type { TaskEnvironment } from '../../server/tasks/environment.ts';
import { PollSlots } from '../../server/tasks/poll-slots.ts';
import { defaultTiming, jittered, nextPollInterval, retryPause } from '../../server/tasks/timing.ts';
import { PollRecorder } from '../../server/tasks/transitions.ts';

describe('the poll slots of a channel', () => {
  let now: number;
  let slots: PollSlots;
  beforeEach(() => {
    now = 100_000;
    const env = { channels: { names: ['one', 'two'] }, timers: { monotonic: () => now }, pollsPerChannel: 4 };
    slots = new PollSlots(env as unknown as TaskEnvironment);
  });
  const one = () => slots.open().channels.find(({ channel }) => channel === 'one');
  const never = Number.POSITIVE_INFINITY;

  test('are free until acquired, and counted for each user', () => {
    const none = { free: 4, users: [] };
    expect(slots.open()).toEqual({
      channels: [
        { channel: 'one', ...none },
        { channel: 'two', ...none },
      ],
      nextFreeAt: never,
    });
    const release = [slots.enter('one', 7), slots.enter('one', 7), slots.enter('one', 8)];
    expect(one()).toEqual({
      channel: 'one',
      free: 1,
      users: [
        { userId: 7, running: 2 },
        { userId: 8, running: 1 },
      ],
    });
    release[0]?.();
    // A second release has no effect.
    release[0]?.();
    expect(one()?.users).toEqual([
      { userId: 7, running: 1 },
      { userId: 8, running: 1 },
    ]);
    release[1]?.();
    expect(one()).toEqual({ channel: 'one', free: 3, users: [{ userId: 8, running: 1 }] });
    for (let count = 0; count < 4; count += 1) slots.enter('one', 9);
    // One more than the limit, because a reader has polled a task early.
    expect(slots.open().channels.map(({ channel }) => channel)).toEqual(['two']);
  });

  test('a user gets at most as many as are left free', () => {
    slots.enter('one', 7);
    expect([slots.hasFree('one', 7), slots.hasFree('one', 8)]).toEqual([true, true]);
    slots.enter('one', 7);
    expect([slots.hasFree('one', 7), slots.hasFree('one', 8)]).toEqual([false, true]);
    slots.enter('one', 8);
    slots.enter('one', 8);
    expect([slots.hasFree('one', 9), slots.hasFree('two', 7)]).toEqual([false, true]);
  });

  test('a release returns whether more tasks may be due', () => {
    const release = [slots.enter('one', 7), slots.enter('one', 7), slots.enter('one', 7)];
    expect(release[0]?.()).toBe(false);
    slots.open();
    expect(release[1]?.()).toBe(true);
    slots.emptied('one');
    expect(release[2]?.()).toBe(false);
    expect(release[1]?.()).toBe(false);
  });

  test('pause for the shortest time when three tasks are throttled within ten seconds', () => {
    slots.throttled('one', 'a', 9_000);
    slots.throttled('one', 'a', 9_000);
    slots.throttled('one', 'b', 3_000);
    expect(one()).toBeDefined();
    slots.throttled('one', 'c', 5_000);
    expect(slots.open()).toEqual({
      channels: [{ channel: 'two', free: 4, users: [] }],
      nextFreeAt: now + 3_000,
    });
    expect(slots.hasFree('one', 7)).toBe(false);
    now += 2_999;
    expect(one()).toBeUndefined();
    now += 1;
    expect([one()?.free, slots.open().nextFreeAt]).toEqual([4, never]);
    // Those three reports are used up.
    slots.throttled('one', 'd', 60_000);
    slots.throttled('one', 'e', 60_000);
    expect(one()).toBeDefined();
    slots.throttled('one', 'f', 60_000);
    expect(slots.open().nextFreeAt).toBe(now + 60_000);
  });

  test('do not pause for throttling that is old or precedes a successful poll', () => {
    slots.throttled('one', 'a', 60_000);
    slots.throttled('one', 'b', 60_000);
    now += 10_001;
    slots.throttled('one', 'c', 60_000);
    slots.throttled('one', 'd', 60_000);
    expect(one()).toBeDefined();
    slots.answered('one');
    slots.throttled('one', 'e', 60_000);
    slots.throttled('one', 'f', 60_000);
    expect(one()).toBeDefined();
    now += 10_000;
    slots.throttled('one', 'g', 60_000);
    expect(slots.open().nextFreeAt).toBe(now + 50_000);
  });

  test('a pause is never shortened', () => {
    for (const id of ['a', 'b', 'c']) slots.throttled('one', id, 9_000);
    for (const id of ['a', 'b', 'c']) slots.throttled('one', id, 1_000);
    expect(slots.open().nextFreeAt).toBe(now + 9_000);
  });
});

test('intervals and pauses grow up to a maximum', () => {
  const timing = { ...defaultTiming, firstPollMs: 1_000, maxPollMs: 4_000, growth: 1.5, maxRetryMs: 7_000 };
  expect([1_000, 1_333, 3_000].map((ms) => nextPollInterval(ms, timing))).toEqual([1_500, 2_000, 4_000]);
  expect([1, 2, 3, 4, 2_000].map((failures) => retryPause(failures, timing))).toEqual([
    1_000, 2_000, 4_000, 7_000, 7_000,
  ]);
  expect([0, 0.5, 1].map((part) => jittered(1_000, () => part))).toEqual([1_000, 900, 800]);
});

test('polls are recorded in batches, and each returns whether its claim was the latest', async () => {
  const batches: string[][] = [];
  const run = async (name: string, polls: readonly TaskPoll[]) => {
    expect(name).toBe('recordPolls');
    batches.push(polls.map(({ id }) => id));
    return polls.map(({ id }) => id !== 'late');
  };
  const recorder = new PollRecorder({ run, retrySignal: new AbortController().signal } as unknown as Store);
  const polls = ['a', 'late', 'c'].map((id) => recorder.add({ id } as TaskPoll));
  expect(await Promise.all(polls)).toEqual([true, false, true]);
  expect(batches).toEqual([['a', 'late', 'c']]);
});
