import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Storage } from '../../server/sandbox/storage.ts';
import { TaskBoard } from '../../server/sandbox/tasks/task-board.ts';

let storage: Storage;
beforeEach(() => {
  storage = new Storage();
});
afterEach(() => storage.close());

test('a task whose work exceeds its duration slows down, and succeeds only when the work completes', async () => {
  let time = 0;
  const work = Promise.withResolvers<void>();
  const board = new TaskBoard<undefined, string, string>({
    storage,
    name: 'test',
    now: () => time,
    taskDurationMs: 100,
    retentionMs: Infinity,
    work: async (job) => {
      await work.promise;
      return (endedAt) => `${job} at ${endedAt}`;
    },
  });
  const task = board.add({ id: 'a', request: undefined, triggers: new Map(), fate: undefined, job: 'drawn' });
  const shown: number[] = [];
  for (const after of [20, 40, 60, 84, 90, 100, 150, 300, 1_000]) {
    time = after;
    const stage = task.stage();
    expect(stage.name).toBe('running');
    shown.push('progress' in stage ? stage.progress : Number.NaN);
  }
  expect(shown.slice(0, 4)).toEqual([1, 25, 50, 80]);
  expect(shown).toEqual(Array.from(new Set(shown)).toSorted((first, second) => first - second));
  expect(shown.at(-1)).toBeLessThan(100);
  work.resolve();
  await vi.waitFor(() =>
    expect(task.stage()).toMatchObject({ name: 'succeeded', endedAt: 1_000, output: 'drawn at 1000' }),
  );
});
