import { beforeEach, expect, test, vi } from 'vitest';
import { yieldToEventLoop } from '../../server/lib/timers.ts';
import { StoreUnavailable } from '../../server/store/availability.ts';
import { Batcher } from '../../server/store/batcher.ts';

let batches: number[][];
let write: (items: readonly number[]) => Promise<readonly string[]> | readonly string[];
let batcher: Batcher<number, string>;

beforeEach(() => {
  batches = [];
  write = (items) => items.map(String);
  batcher = new Batcher(async (items) => {
    batches.push([...items]);
    return write(items);
  }, 10);
});

test('writes items of one turn of the event loop together, and returns the result of each', async () => {
  const first = batcher.add(1);
  for (let step = 0; step < 9; step += 1) await Promise.resolve();
  expect(await Promise.all([first, batcher.add(2)])).toEqual(['1', '2']);
  expect(batches).toEqual([[1, 2]]);
});

test('writes items that arrive during a write in the next batch', async () => {
  const written = Promise.withResolvers<void>();
  write = async (items) => {
    if (batches.length === 1) await written.promise;
    return items.map(String);
  };
  void batcher.add(1);
  await vi.waitFor(() => expect(batches).toHaveLength(1));
  void batcher.add(2);
  void batcher.add(3);
  for (let turn = 0; turn < 3; turn += 1) await yieldToEventLoop();
  expect(batches).toEqual([[1]]);
  written.resolve();
  await batcher.idle();
  expect(batches).toEqual([[1], [2, 3]]);
  expect(await batcher.add(4)).toBe('4');
});

test('limits the size of a batch', async () => {
  await Promise.all(Array.from({ length: 21 }, (_, index) => batcher.add(index)));
  expect(batches.map(({ length }) => length)).toEqual([10, 10, 1]);
});

test('writes each item alone after a failure, so that a faulty item rejects no other', async () => {
  write = (items) => {
    if (items.includes(2)) throw new RangeError('faulty');
    return items.map(String);
  };
  const results = await Promise.allSettled([1, 2, 3].map((item) => batcher.add(item)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(batches).toEqual([[1, 2, 3], [1], [2], [3]]);
});

test('rejects the whole batch while the store is unavailable, and continues with the next one', async () => {
  write = () => {
    throw new StoreUnavailable(new Error('away'));
  };
  const results = await Promise.allSettled([1, 2].map((item) => batcher.add(item)));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(batches).toEqual([[1, 2]]);
  write = (items) => items.map(String);
  expect(await batcher.add(3)).toBe('3');
});

test('rejects an item for which the write returns no result', async () => {
  write = () => ['1'];
  const [first, second] = [batcher.add(1), batcher.add(2)];
  await expect(second).rejects.toThrow('the write returned no result');
  expect(await first).toBe('1');
});
