import { beforeEach, describe, expect, test } from 'vitest';
import type { CommandName } from '../../server/store/commands/registry.ts';
import type { Store } from '../../server/store/store.ts';
import { TaskHarness } from './harness.ts';

describe('the housekeeping of tasks', () => {
  let rig: TaskHarness;
  /** Results of `pruneTasks`, one for each call. */
  let results: (() => Promise<number>)[];
  let pruned: number;
  TaskHarness.eachTest('sqlite', (made) => {
    rig = made;
  });
  beforeEach(() => {
    results = [];
    pruned = 0;
  });

  const run: Store['run'] = (name, args) => {
    if (name !== ('pruneTasks' satisfies CommandName)) return rig.store.run(name, args);
    expect(args).toMatchObject({ limit: 500 });
    pruned += 1;
    return (results.shift() ?? (async () => 0))() as never;
  };
  const createEngine = () => rig.engine({ store: { ...rig.store, run }, timing: { housekeepingMs: 1_000 } });
  const many = async () => 500;

  test('deletes in batches until no old task is left', async () => {
    results = [many, many, async () => 3];
    expect(await createEngine().runHousekeeping()).toEqual({ pruned: 1_003, expired: 0 });
    expect(pruned).toBe(3);
  });

  test('is awaited by a gateway that stops, which starts no batch after the grace period', async () => {
    const tasks = createEngine();
    const batch = Promise.withResolvers<number>();
    results = [() => batch.promise, many, many];
    await tasks.start();
    await rig.advance(1_000);
    expect(pruned).toBe(1);
    let stopped = false;
    const stop = tasks.stop(100).then(() => {
      stopped = true;
    });
    await rig.advance(100);
    expect(stopped).toBe(false);
    batch.resolve(500);
    await stop;
    expect(pruned).toBe(1);
    await rig.advance(60_000);
    expect(pruned).toBe(1);
    expect(rig.clock.pending).toBe(0);
  });

  test('that fails is logged and repeated at the next interval', async () => {
    const tasks = createEngine();
    results = [() => Promise.reject(new Error('the disk is full'))];
    await tasks.start();
    await rig.advance(1_000);
    expect(rig.lines).toEqual([
      expect.objectContaining({ level: 50, err: expect.objectContaining({ message: 'the disk is full' }) }),
    ]);
    await rig.advance(1_000);
    expect(pruned).toBe(2);
    await tasks.stop();
  });
});
