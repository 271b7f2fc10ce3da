import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dayMs, dayOf } from '../../server/store/log-days.ts';
import { findShownTask, type TaskSearch } from '../../server/store/queries/task-search.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { dropTask, endTask, newTaskRow } from '../quota/task-rows.ts';
import { engines, TestStore } from './engines.ts';
import { expectBalanced, ledgerRows, makeToken } from './ledger.ts';
import { eachTestOnOneStore } from './one-store.ts';
import { insertRows } from './raw-rows.ts';
import { newestFirst, rows, start } from './seeded-tasks.ts';

type Filter = Omit<TaskSearch, 'offset' | 'limit'>;
const filters: readonly Filter[] = [
  {},
  { id: 'task_007' },
  { id: 'task_007', userId: 99 },
  { id: "task' or 1=1 --" },
  { userId: 2 },
  { tokenId: 20 },
  { userId: 1, tokenId: 30, state: 'failed' },
  { state: 'queued' },
  { state: 'in_progress', channel: 'two' },
  { model: "an 'odd%_' model" },
  { model: '%' },
  { format: 'native', driver: 'sigma' },
  { errorCode: 'task_lost' },
  { upstream: false },
  { upstream: true, state: 'completed' },
  { createdFrom: start + 20_000, createdBefore: start + 30_000 },
  { createdFrom: start + 20_000, createdBefore: start + 20_000 },
];

const isFound = (row: (typeof rows)[number], filter: Filter): boolean =>
  (filter.id === undefined || row.id === filter.id) &&
  (filter.userId === undefined || row.user_id === filter.userId) &&
  (filter.tokenId === undefined || row.token_id === filter.tokenId) &&
  (filter.state === undefined || row.state === filter.state) &&
  (filter.model === undefined || row.model === filter.model) &&
  (filter.channel === undefined || row.channel === filter.channel) &&
  (filter.format === undefined || row.format === filter.format) &&
  (filter.driver === undefined || row.driver === filter.driver) &&
  (filter.errorCode === undefined || row.error_code === filter.errorCode) &&
  (filter.upstream === undefined || (row.upstream_id !== null) === filter.upstream) &&
  (filter.createdFrom === undefined || row.created_at >= filter.createdFrom) &&
  (filter.createdBefore === undefined || row.created_at < filter.createdBefore);

describe.each(engines)('the search of tasks on %s', (engine) => {
  let testStore: TestStore;
  let store: Store;
  beforeAll(async () => {
    testStore = await TestStore.make(engine);
    store = await testStore.open();
    await insertRows(testStore, 'tasks', rows);
  });
  afterAll(() => testStore.remove());

  test.each(filters.map((filter) => [JSON.stringify(filter), filter] as const))(
    'finds page by page what matches %s',
    async (_, filter) => {
      const expected = newestFirst.filter((row) => isFound(row, filter)).map(({ id }) => id);
      const limit = 50;
      for (let offset = 0; offset <= expected.length; offset += limit) {
        const { tasks, total } = await store.report('searchTasks', { ...filter, offset, limit });
        expect(tasks.map(({ id }) => id)).toEqual(expected.slice(offset, offset + limit));
        expect(total).toBe(expected.length);
      }
    },
  );

  test('does not show the request', async () => {
    const { tasks } = await store.report('searchTasks', { offset: 0, limit: 1000 });
    expect(JSON.stringify(tasks)).not.toContain('secret');
  });
});

describe.each(engines)('charges in a search of tasks on %s', (engine) => {
  let store: Store;
  let token: TokenRecord;
  eachTestOnOneStore(engine, async (made) => {
    ({ store } = made);
    token = await makeToken(store, { remainQuota: 1_000 });
  });

  const make = async (requestId: string) => {
    const { id, now } = newTaskRow(token, { requestId, amount: 20 });
    const made = await store.run('createTask', newTaskRow(token, { requestId, amount: 20 }));
    expect(made.outcome).toBe('created');
    return { id, now };
  };
  const shown = async () => {
    const { tasks } = await store.report('searchTasks', { offset: 0, limit: 50 });
    for (const task of tasks) expect(await findShownTask(store.read, task.id)).toEqual(task);
    return Object.fromEntries(
      tasks.map(({ request_id: id, reserved, charged }) => [id, [reserved, charged]] as const),
    );
  };

  test('come from the log after the end of a task, when the ledger has no row of it', async () => {
    const [open, done, free, failed] = [
      await make('open'),
      await make('done'),
      await make('free'),
      await make('failed'),
    ];
    expect(await endTask(store, done.id, 12)).toBe(true);
    expect(await endTask(store, free.id, 0)).toBe(true);
    expect(await endTask(store, failed.id, null)).toBe(true);
    expect(await shown()).toEqual({ open: [20, null], done: [20, 12], free: [20, 0], failed: [20, 0] });
    expect((await ledgerRows(store)).map((row) => row.request_id)).toEqual(['open']);
    await expectBalanced(store, token);
    expect(await dropTask(store, open.id)).toBe(true);
    expect(await ledgerRows(store)).toEqual([]);
    expect((await store.report('auditLedger', null)).problems).toEqual([]);
  });

  test('are omitted after the retention period, while the task still exists', async () => {
    const { id, now } = await make('old');
    if (engine === 'postgres') await store.run('addLogDays', { first: dayOf(now), last: dayOf(now) });
    await endTask(store, id, 12);
    expect(await shown()).toEqual({ old: [20, 12] });
    const closedBefore = now + 2 * dayMs;
    const [swept, dropped] = [
      await store.run('sweepLog', { closedBefore, limit: 9 }),
      await store.run('dropLogDay', { day: dayOf(now), closedBefore }),
    ];
    expect([swept, dropped]).toEqual(engine === 'postgres' ? [0, 1] : [1, 0]);
    expect(await shown()).toEqual({ old: [null, null] });
    await store.run('sweepReservations', { closedBefore, limit: 9 });
    expect(await store.report('auditLedger', null)).toMatchObject({ problems: [], closed: 0, spent: 12 });
  });
});

test('SQLite finds and counts them with an index only', async () => {
  const testStore = await TestStore.make('sqlite');
  await testStore.open();
  const file = new DatabaseSync(join(testStore.options.dataDir, 'unigate.db'), { readOnly: true });
  const plan = (query: string) =>
    file
      .prepare(`explain query plan ${query}`)
      .all()
      .map(({ detail }) => detail);
  const where = `where state = 'failed' and channel = 'one' and +user_id = 1 and upstream_id is null`;
  const covered = expect.stringContaining('COVERING INDEX tasks_search');
  expect(plan(`select count(*) from tasks ${where}`)).toEqual([covered]);
  const page = `select id from tasks ${where} and created_at >= 5 order by created_at desc, id desc limit 5`;
  expect(plan(page)).toEqual([covered]);
  file.close();
  await testStore.remove();
});
