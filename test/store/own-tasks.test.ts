import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listOwnTasks, type OwnTaskFilter } from '../../server/store/queries/own-tasks.ts';
import type { Store } from '../../server/store/store.ts';
import { engines, TestStore } from './engines.ts';
import { insertRows } from './raw-rows.ts';
import { newestFirst, rows, start } from './seeded-tasks.ts';

const filters: readonly OwnTaskFilter[] = [
  { userId: 1 },
  { userId: 1, family: 20 },
  { userId: 1, family: 30 },
  { userId: 3, family: 99 },
  { userId: 99 },
  { userId: 2, state: 'in_progress' },
  { userId: 2, model: "an 'odd%_' model" },
  { userId: 2, model: '%' },
  { userId: 1, format: 'native' },
  { userId: 1, format: 'image' },
  { userId: 3, createdFrom: start + 20_000, createdBefore: start + 40_000 },
  { userId: 3, createdFrom: start + 20_000, createdBefore: start + 20_000 },
];

/** Key 30 was created with key 20. */
const tokens = [10, 20, 30, 40].map((id) => ({
  id,
  user_id: 1,
  name: 'a key',
  key_hash: `hash of ${id}`,
  key_hint: 'sk-***',
  status: 1,
  unlimited_quota: 1,
  remain_quota: 0,
  used_quota: 0,
  expired_time: -1,
  maker_id: id === 30 ? 20 : null,
  created_time: 1,
}));
const family = (id: number) => (id === 20 ? [20, 30] : [id]);

const isFound = (row: (typeof rows)[number], filter: OwnTaskFilter): boolean =>
  row.user_id === filter.userId &&
  (filter.family === undefined || family(filter.family).includes(row.token_id)) &&
  (filter.state === undefined || row.state === filter.state) &&
  (filter.model === undefined || row.model === filter.model) &&
  (filter.format === undefined || row.format === filter.format) &&
  (filter.createdFrom === undefined || row.created_at >= filter.createdFrom) &&
  (filter.createdBefore === undefined || row.created_at < filter.createdBefore);

describe.each(engines)('the list of own tasks on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  beforeAll(async () => {
    testStore = await TestStore.make(engine);
    store = await testStore.open();
    const user = { id: 1, name: 'Ada', group_name: 'default', created_at: start };
    await insertRows(testStore, 'users', [user]);
    await insertRows(testStore, 'tokens', tokens);
    await insertRows(testStore, 'tasks', rows);
  });
  afterAll(() => testStore.remove());

  test.each(filters.map((filter) => [JSON.stringify(filter), filter] as const))(
    'has page by page what matches %s',
    async (_, filter) => {
      const expected = newestFirst.filter((row) => isFound(row, filter)).map(({ id }) => id);
      const found: string[] = [];
      for (let after: string | undefined, hasMore = true; hasMore; after = found.at(-1)) {
        const page = await store.report('listOwnTasks', { ...filter, after, limit: 7 });
        found.push(...(page?.tasks ?? []).map(({ id }) => id));
        hasMore = page?.hasMore === true;
        expect(page?.tasks.length).toBe(hasMore ? 7 : expected.length % 7 || Math.min(expected.length, 7));
      }
      expect(found).toEqual(expected);
    },
  );

  test('refuses a cursor that the viewer does not see', async () => {
    const other = newestFirst.find((row) => row.user_id === 2)?.id;
    const sibling = newestFirst.find((row) => row.user_id === 1 && row.token_id === 10)?.id;
    const list = (filter: OwnTaskFilter, after: string | undefined) =>
      listOwnTasks(store.read, { ...filter, after, limit: 1 });
    expect(await list({ userId: 1 }, other)).toBeUndefined();
    expect(await list({ userId: 1, family: 20 }, sibling)).toBeUndefined();
    expect(await list({ userId: 1 }, 'task_unknown')).toBeUndefined();
    expect(await list({ userId: 1 }, sibling)).toBeDefined();
  });
});
