import { expect, test } from 'vitest';
import { type AdminTask, dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { startOfficialTask } from '../../support/start-official-task.ts';
import { startVideo } from '../../support/start-video.ts';

type Page = { items: AdminTask[]; total: number };

describeOperation('searchTasks', {
  invalid: {
    'page 0': { query: { p: 0 }, field: 'p', limit: 1 },
    'a page size of 1001': { query: { page_size: 1001 }, field: 'page_size', limit: 1000 },
    'an unknown state': { query: { state: 'done' }, field: 'state' },
    'an unknown format': { query: { format: 'mp4' }, field: 'format' },
    'a user that is not a number': { query: { user_id: 'root' }, field: 'user_id' },
  },
  gatewayTests(call) {
    test('finds a task with its key, charge and provider, without its request', async () => {
      const id = await startVideo({ prompt: 'A secret kite. [[slow]]' });
      const response = await call({ query: { id } });
      const { items, total } = dataOf<Page>(response);
      expect(response.body.toString()).not.toContain('kite');
      expect(total).toBe(1);
      const [task] = items;
      expect(task).toMatchObject({
        id,
        request_id: expect.stringMatching(/^req_/),
        user_id: 1,
        token_id: 1,
        operation: 'createVideo',
        format: 'videos',
        driver: 'eta',
        model: 'eta-imagine-video',
        upstream_id: expect.any(String),
        error: null,
        unit: 'seconds',
        expected_units: 2,
        reserved: expect.any(Number),
        charged: null,
        callback: null,
        callback_host: null,
        completed_at: null,
        failures: 0,
      });
      const found = async (query: Record<string, string | number>) =>
        dataOf<Page>(await call({ query: { ...query, page_size: 1000 } })).items.some((one) => one.id === id);
      const { created_at = 0, channel = '' } = task ?? {};
      const own: Record<string, string | number>[] = [
        { user_id: 1 },
        { token_id: 1 },
        { model: 'eta-imagine-video', format: 'videos', driver: 'eta' },
        { channel, upstream: 'known' },
        { since: created_at, until: created_at + 1 },
      ];
      for (const query of own) expect(await found(query), JSON.stringify(query)).toBe(true);
      const others: Record<string, string | number>[] = [
        { user_id: 2 },
        { token_id: 2 },
        { model: 'gamma3.0-video' },
        { format: 'native' },
        { driver: 'official' },
        { state: 'failed' },
        { channel: 'nobody' },
        { error_code: 'task_lost' },
        { upstream: 'unknown' },
        { since: created_at + 1 },
        { until: created_at },
      ];
      for (const query of others) expect(await found(query), JSON.stringify(query)).toBe(false);
    });

    test('returns pages, newest first', async () => {
      const ids = [await startVideo(), await startVideo(), await startVideo()];
      const [first, second] = [
        await call({ query: { page_size: 2 } }),
        await call({ query: { page_size: 2, p: 2 } }),
      ];
      const pages = [dataOf<Page>(first), dataOf<Page>(second)];
      const shown = pages.flatMap(({ items }) => items.map(({ id }) => id));
      expect(new Set(shown).size).toBe(4);
      expect(shown).toEqual(expect.arrayContaining(ids));
      expect(pages[0]?.total).toBeGreaterThan(2);
      const behind = await call({ query: { p: 2147483647, page_size: 1000 } });
      expect(dataOf<Page>(behind)).toEqual({ items: [], total: expect.any(Number) });
    });

    test('shows only the host of a callback URL', async () => {
      const id = await startOfficialTask({ callback_url: 'https://receiver.invalid/hook?token=secret' });
      const response = await call({ query: { id } });
      expect(dataOf<Page>(response).items[0]).toMatchObject({
        callback: 'open',
        callback_host: 'receiver.invalid',
      });
      expect(response.body.toString()).not.toContain('secret');
    });

    test('403 for a key without admin access', async () => {
      expectError(await call({ as: 'noModels' }), 403);
    });
  },
});
