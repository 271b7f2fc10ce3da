import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { engines, TestStore } from './engines.ts';
import { insertRows, runStatement } from './raw-rows.ts';

const task = {
  id: 'task_1',
  request_id: 'r',
  user_id: 7,
  token_id: 1,
  operation: 'o',
  format: 'official',
  driver: 'official',
  model: 'm',
  unit: 'u',
  channel: 'c',
  state: 'completed',
  progress: 100,
  facts: '{}',
  expected_units: 1,
  rate: 1,
  created_at: 1,
  updated_at: 1,
  completed_at: 1,
  deadline_at: 1,
  poll_interval: 1,
  failures: 0,
  attempt: 0,
};
/** As a gateway of the version before adds it. */
const delivery = { task_id: 'task_1', host: 'h', changed_at: 1, tries: 0, attempt: 0 };

describe.each(engines)('the users of deliveries on %s', (engine) => {
  let testStore: TestStore;
  beforeEach(async () => {
    testStore = await TestStore.make(engine);
    const store = await testStore.open();
    await store.close();
    await insertRows(testStore, 'tasks', [task]);
  });
  afterEach(() => testStore.remove());

  test('are those of their tasks after the upgrade, where the deliveries are open', async () => {
    for (const statement of [
      'drop index deliveries_user',
      'alter table deliveries drop column user_id',
      `delete from schema_migrations where name = '0040-delivery-users'`,
    ])
      await runStatement(testStore, statement);
    await insertRows(testStore, 'deliveries', [
      { ...delivery, state: 'queued', outcome: 'delivered', closed_at: 1 },
      { ...delivery, state: 'in_progress', next_try_at: 5 },
      { ...delivery, state: 'completed' },
      { ...delivery, task_id: 'removed', state: 'queued', next_try_at: 5 },
    ]);
    const store = await testStore.open();
    const rows = await store.read.selectFrom('deliveries').select('user_id').orderBy('id').execute();
    expect(rows.map((row) => row.user_id)).toEqual([0, 7, 7, 0]);
  });

  test('are claimed without one where a gateway of the version before adds them, and have it later', async () => {
    await insertRows(testStore, 'deliveries', [{ ...delivery, state: 'completed', next_try_at: 5 }]);
    const store = await testStore.open();
    const limits = { total: 9, perUser: 9, perHost: 9 };
    const claim = async (owner: string) =>
      (await store.run('claimDeliveries', { owner, now: 5, until: 9, limits, running: [] })).deliveries;
    expect(await claim('one')).toMatchObject([{ userId: 0, taskId: 'task_1' }]);
    await store.run('releaseDeliveries', { owner: 'one', now: 5 });
    await store.run('repairDueDeliveries', { now: 5, after: 9 });
    expect(await claim('two')).toMatchObject([{ userId: 7, taskId: 'task_1' }]);
  });
});
