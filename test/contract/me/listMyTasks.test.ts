import { expect, inject, test } from 'vitest';
import type { operations } from '../../../generated/http.ts';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { newToken, newUser } from '../../support/operator.ts';
import { startMusic } from '../../support/start-music.ts';
import { startOfficialTask } from '../../support/start-official-task.ts';
import { startVideo } from '../../support/start-video.ts';

type Page = operations['listMyTasks']['responses'][200]['content']['application/json']['data'];
type Query = Record<string, string | number>;

describeOperation('listMyTasks', {
  invalid: {
    'a page size of 0': { query: { page_size: 0 }, field: 'page_size', limit: 1 },
    'a page size of 1001': { query: { page_size: 1001 }, field: 'page_size', limit: 1000 },
    'an unknown state': { query: { state: 'done' }, field: 'state' },
    'an unknown format': { query: { format: 'mp4' }, field: 'format' },
    'an empty cursor': { query: { after: '' }, field: 'after', limit: 1 },
    'a time that is not a number': { query: { since: 'today' }, field: 'since' },
  },
  gatewayTests(call) {
    const pageOf = async (query: Query = {}) => dataOf<Page>(await call({ query }));

    test('finds a task with its key and its cost, without its provider', async () => {
      const id = await startVideo({ prompt: 'A secret kite. [[slow]]' });
      const response = await call({ query: { page_size: 1 } });
      const [task] = dataOf<Page>(response).items;
      expect(task).toEqual({
        id,
        request_id: expect.stringMatching(/^req_/),
        token_id: 1,
        token_name: 'bootstrap',
        operation: 'createVideo',
        format: 'videos',
        model: 'eta-imagine-video',
        sandbox: true,
        state: expect.stringMatching(/queued|in_progress/),
        progress: expect.any(Number),
        error: null,
        unit: 'seconds',
        expected_units: 2,
        reserved: expect.any(Number),
        charged: null,
        refunded: 0,
        callback: null,
        created_at: expect.any(Number),
        updated_at: expect.any(Number),
        started_at: expect.toSatisfy((time) => time === null || time > 0),
        completed_at: null,
      });
      const createdAt = task?.created_at ?? 0;
      const found = async (query: Query) =>
        (await pageOf({ ...query, page_size: 1000 })).items.some((one) => one.id === id);
      const own: Query[] = [
        { model: 'eta-imagine-video', format: 'videos' },
        { since: createdAt, until: createdAt + 1 },
      ];
      for (const query of own) expect(await found(query), JSON.stringify(query)).toBe(true);
      const others: Query[] = [
        { model: 'gamma3.0-video' },
        { format: 'native' },
        { state: 'failed' },
        { since: createdAt + 1 },
        { until: createdAt },
      ];
      for (const query of others) expect(await found(query), JSON.stringify(query)).toBe(false);
    });

    test('lists tasks of several formats in pages, newest first', async () => {
      const ids = [await startVideo(), await startMusic(), await startOfficialTask()].toReversed();
      const first = await pageOf({ page_size: 2 });
      expect(first.items.map(({ id }) => id)).toEqual(ids.slice(0, 2));
      expect(first).toMatchObject({ last_id: ids[1], has_more: true });
      const second = await pageOf({ page_size: 1, after: first.last_id ?? '' });
      expect(second.items.map(({ id }) => id)).toEqual(ids.slice(2));
      const all = await pageOf({ page_size: 1000 });
      expect(all.has_more).toBe(false);
      const times = all.items.map(({ created_at }) => created_at);
      expect(times).toEqual(times.toSorted((left, right) => right - left));
      expect(await pageOf({ after: all.last_id ?? '' })).toEqual({
        items: [],
        last_id: null,
        has_more: false,
      });
    });

    test('refuses a cursor that is unknown or of another user', async () => {
      const target = inject('gateway');
      const { key } = await newToken(target, (await newUser(target)).id, { unlimited_quota: true });
      const asOther = { headers: { authorization: `Bearer ${key}` } };
      expect(dataOf<Page>(await call(asOther))).toEqual({ items: [], last_id: null, has_more: false });
      const foreign = await call({ ...asOther, query: { after: await startVideo() } });
      for (const response of [foreign, await call({ query: { after: 'task_1' } })])
        expectError(response, 400, { field: 'after' });
    });
  },
});
