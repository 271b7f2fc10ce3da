import { describe, expect, test } from 'vitest';
import type { BookedCall } from '../../server/store/commands/booked-calls.ts';
import type { Evidence } from '../../server/store/commands/log-entries.ts';
import type { TaskEnd } from '../../server/store/commands/tasks.ts';
import type { TokenRecord } from '../../server/store/queries/tokens.ts';
import type { Store } from '../../server/store/store.ts';
import { newTaskRow } from '../quota/task-rows.ts';
import { engines } from './engines.ts';
import { logEntry, makeToken } from './ledger.ts';
import { eachTestOnOneStore } from './one-store.ts';

const now = 1_795_000_000_000;
const price = { unitPrice: 0.1, groupRatio: 2.5, group: 'trial', configRevision: 'abc' };
const known = { unit_price: 0.1, group_ratio: 2.5, group_name: 'trial', config_revision: 'abc' };

describe.each(engines)('evidence in the log on %s', (engine) => {
  let store: Store;
  let token: TokenRecord;
  eachTestOnOneStore(engine, async (opened) => {
    ({ store } = opened);
    token = await makeToken(store, { remainQuota: 1_000 });
  });

  const evidence = async () => {
    const rows = await store.read
      .selectFrom('request_log')
      .select([
        'request_id',
        'unit_price',
        'group_ratio',
        'group_name',
        'config_revision',
        'task_id',
        'upstream_id',
      ])
      .select(['state', 'debt', 'status', 'error_code'])
      .orderBy('id')
      .execute();
    return rows.map((row) => ({ ...row }));
  };
  const call = (requestId: string, evidence: Evidence): BookedCall => ({
    requestId,
    tokenId: token.id,
    userId: token.userId,
    model: 'm',
    unit: 'characters',
    lease: null,
    held: 10,
    charged: 3,
    returned: 0,
    endedAt: now,
    log: { ...logEntry, evidence },
  });
  const task = async (id: string, end: Partial<TaskEnd>) => {
    const row = newTaskRow(token, { id, requestId: `req of ${id}`, amount: 5, ...price });
    await store.run('createTask', row);
    await store.run('acceptTask', {
      id,
      attempt: 1,
      upstreamId: `upstream of ${id}`,
      state: 'queued',
      progress: 0,
      result: null,
      nextPollAt: now,
      now,
      dueNow: 1,
    });
    const error = { code: 'video_failed', message: '' };
    const times = { expiresAt: now, now, dueNow: 1 };
    await store.run('finishTask', { id, attempt: null, result: null, error, charge: null, ...times, ...end });
  };

  test('of a call is its exact price, the revision, the state and the id at the provider', async () => {
    await store.run('settleCalls', {
      calls: [
        call('failed', { ...price, state: 'failed', upstreamId: 'up-1' }),
        call('completed', { ...price, state: 'completed' }),
      ],
    });
    const rest = { task_id: null, debt: 0, status: 200, error_code: null };
    expect(await evidence()).toEqual([
      { request_id: 'failed', ...known, upstream_id: 'up-1', state: 'failed', ...rest },
      { request_id: 'completed', ...known, upstream_id: null, state: 'completed', ...rest },
    ]);
  });

  test('of a task is the price of its creation, its public id, the id at the provider and its final state', async () => {
    const charge = { quota: 2, units: 5, inputTokens: 0, outputTokens: 0 };
    await task('task_done', { error: null, charge });
    await task('task_failed', {});
    await task('task_canceled', { isCanceled: true });
    const found = await evidence();
    expect(found.map(({ task_id, state, error_code }) => [task_id, state, error_code])).toEqual([
      ['task_done', 'completed', null],
      ['task_failed', 'failed', 'video_failed'],
      ['task_canceled', 'canceled', 'video_failed'],
    ]);
    for (const { task_id, ...entry } of found)
      expect(entry).toMatchObject({ ...known, status: 200, upstream_id: `upstream of ${task_id}` });
  });

  test('of a task that no provider accepted has its price and no task id', async () => {
    const row = newTaskRow(token, { id: 'task_dropped', requestId: 'r', amount: 5, ...price });
    await store.run('createTask', row);
    const refusal = { channel: 'one', status: 502, errorCode: 'upstream_error' };
    await store.run('dropTask', { id: row.id, attempt: 1, ...refusal, now });
    expect(await evidence()).toMatchObject([{ ...known, task_id: null, state: 'failed' }]);
  });
});
