import { expect, test, vi } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { startOfficialTask } from '../../support/start-official-task.ts';

interface Callback {
  id: string;
  task_id: string;
  tries: number;
  created_at: number;
  body: string;
}
type Page = { items: Callback[]; total: number };

describeOperation('listCallbacks', {
  invalid: {
    'page 0': { query: { p: 0 }, field: 'p', limit: 1 },
    'a page size of 1001': { query: { page_size: 1001 }, field: 'page_size', limit: 1000 },
    'a start below zero': { query: { start: -1 }, field: 'start', limit: 0 },
    'a start that is not a number': { query: { start: 'today' }, field: 'start' },
  },
  gatewayTests(call) {
    test('lists a callback with its URL, body, headers and the state of its delivery', async () => {
      const url = 'https://nowhere.invalid/hook?token=secret';
      const task_id = await startOfficialTask({ callback_url: url });
      const found = async (query = {}) =>
        dataOf<Page>(await call({ query: { page_size: 1000, ...query } })).items.filter(
          (callback) => callback.task_id === task_id,
        );
      const callback = await vi.waitFor(async () => {
        const first = (await found()).at(-1);
        expect(first?.tries).toBeGreaterThan(0);
        return first;
      });
      const id = `${task_id.replace('task_', 'msg_')}_queued`;
      expect(callback).toMatchObject({
        id,
        url,
        event: 'queued',
        state: 'open',
        last_status: null,
        last_error: expect.any(String),
        headers: {
          'content-type': 'application/json',
          'user-agent': 'unigate',
          'webhook-id': id,
          'webhook-timestamp': expect.stringMatching(/^\d+$/),
        },
      });
      expect(JSON.parse(callback?.body ?? '')).toMatchObject({ id: task_id, status: 'queued' });
      const createdAt = callback?.created_at ?? 0;
      expect(await found({ start: createdAt })).toContainEqual(expect.objectContaining({ id }));
      expect(await found({ start: createdAt + 1 })).not.toContainEqual(expect.objectContaining({ id }));
      // Other users do not see it.
      expect(dataOf<Page>(await call({ as: 'noQuota' }))).toEqual({ items: [], total: 0 });
    });

    test('returns the newest first, and one with a page size of 1', async () => {
      await startOfficialTask({ callback_url: 'https://nowhere.invalid/hook' });
      const { items } = dataOf<Page>(await call({ query: { page_size: 1000 } }));
      const times = items.map((callback) => callback.created_at);
      expect(times.length).toBeGreaterThan(0);
      expect(times).toEqual(times.toSorted((a, b) => b - a));
      expect(dataOf<Page>(await call({ query: { page_size: 1 } })).items).toHaveLength(1);
    });

    test('returns nothing after the last page', async () => {
      const behind = await call({ query: { p: 2147483647, page_size: 1000 } });
      expect(dataOf<Page>(behind)).toEqual({ items: [], total: expect.any(Number) });
    });
  },
});
