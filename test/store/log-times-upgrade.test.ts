import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dayOf, partitionOf } from '../../server/store/log-days.ts';
import { readBooks } from '../../server/store/open-books.ts';
import { auditBooks } from '../../server/store/queries/audit.ts';
import type { Store } from '../../server/store/store.ts';
import { logEntry } from './books.ts';
import { engines, TestStore } from './engines.ts';
import { createOlderVersion } from './older-version.ts';
import { insertRows, runStatement } from './raw-rows.ts';

/** Noon of some day, in seconds. */
const start = Date.UTC(2026, 10, 18, 12) / 1000;

describe.each(engines)('a log of the previous version on %s', (engine) => {
  let testStore: TestStore;
  beforeEach(async () => {
    testStore = await TestStore.make(engine);
    await createOlderVersion(testStore, '0041-refunds-and-log-times');
    await insertRows(testStore, 'users', [{ id: 7, name: 'u', group_name: 'default', created_at: 1 }]);
    const quota = { unlimited_quota: 1, remain_quota: 0, used_quota: 9, expired_time: -1 };
    const key = { name: 'k', key_hash: 'h', key_hint: '', status: 1, created_time: 1 };
    await insertRows(testStore, 'tokens', [{ id: 7, user_id: 7, ...quota, ...key }]);
    if (engine === 'postgres')
      await runStatement(
        testStore,
        `create table ${partitionOf(dayOf(start * 1000))} partition of request_log
          for values from (${dayOf(start * 1000)}) to (${dayOf(start * 1000) + 1})`,
      );
    const whose = { user_id: 7, token_id: 7, token_name: 'k', model_name: 'm', operation: 'o', channel: 'c' };
    const cost = { status: 200, unit: 'u', units: 1, prompt_tokens: 0, completion_tokens: 0, quota: 3 };
    const day: Record<string, number> = engine === 'postgres' ? { day: dayOf(start * 1000) } : {};
    await insertRows(
      testStore,
      'request_log',
      [0, 1, 2].map((index) => ({
        request_id: `old ${index}`,
        duration_ms: 1,
        held: 3,
        unlimited: 1,
        created_at: start + index,
        ...whose,
        ...cost,
        ...day,
      })),
    );
  });
  afterEach(() => testStore.remove());

  const counts = (store: Store) =>
    store.read.selectFrom('log_counts').select(['entries', 'first_at', 'last_at']).execute();
  const found = async (store: Store, range: { start?: number; end?: number }) => {
    const search = { userId: 7, keyword: '', offset: 0, limit: 9, ...range };
    const { entries, total } = await store.report('searchLog', search);
    return [total, ...entries.map(({ request_id: id }) => id)];
  };
  const book = (requestId: string, at: number) => ({
    requestId,
    tokenId: 7,
    userId: 7,
    model: 'm',
    unit: 'u',
    lease: null,
    held: 5,
    charged: 5,
    returned: 0,
    endedAt: at * 1000,
    log: logEntry,
  });

  test('has the times of its counts after the upgrade, and later entries widen them', async () => {
    const store = await testStore.open();
    expect(await counts(store)).toEqual([{ entries: 3, first_at: start, last_at: start + 2 }]);
    await store.run('bookCalls', { calls: [book('new', start + 9), book('late', start - 5)] });
    expect(await counts(store)).toEqual([{ entries: 5, first_at: start - 5, last_at: start + 9 }]);
    expect(await found(store, { start: start + 1 })).toEqual([3, 'new', 'old 2', 'old 1']);
    expect(await found(store, { start: start - 5, end: start + 1 })).toEqual([2, 'late', 'old 0']);
    expect((await readBooks(testStore.options, auditBooks)).problems).toEqual([]);
  });

  test('is searched where the times of its counts stayed unknown', async () => {
    const store = await testStore.open();
    await runStatement(testStore, 'update log_counts set first_at = null, last_at = null');
    await store.run('bookCalls', { calls: [book('new', start + 9)] });
    expect(await counts(store)).toEqual([{ entries: 4, first_at: null, last_at: null }]);
    expect(await found(store, { start: start + 1, end: start + 9 })).toEqual([2, 'old 2', 'old 1']);
  });

  test('gives back what its calls cost', async () => {
    const store = await testStore.open();
    const change = { userId: 7, tokenId: 7, action: 'refundCall', now: start * 1000 };
    const refund = { id: 'old 1', amount: null, reason: 'r', idempotencyKey: null, change };
    expect(await store.run('refundCall', refund)).toMatchObject({ refund: { amount: 3, creditedTo: null } });
    expect((await readBooks(testStore.options, auditBooks)).problems).toEqual([]);
  });
});
