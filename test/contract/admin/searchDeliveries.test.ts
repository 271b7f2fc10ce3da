import { expect, test, vi } from 'vitest';
import { type Delivery, dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { startOfficialTask } from '../../support/start-official-task.ts';

type Page = { items: Delivery[]; total: number };

describeOperation('searchDeliveries', {
  invalid: {
    'a page size of 1001': { query: { page_size: 1001 }, field: 'page_size', limit: 1000 },
    'an unknown state': { query: { state: 'lost' }, field: 'state' },
    'a user that is not a number': { query: { user_id: 'root' }, field: 'user_id' },
  },
  gatewayTests(call) {
    test('finds a failed callback with its reason and only the host of its URL', async () => {
      const callback_url = 'https://nowhere.invalid/hook?token=secret';
      const task_id = await startOfficialTask({ callback_url });
      const first = await vi.waitFor(
        async () => {
          const response = await call({ query: { task_id } });
          expect(response.body.toString()).not.toContain('secret');
          const found = dataOf<Page>(response).items.at(-1);
          expect(found?.tries).toBeGreaterThan(0);
          return found;
        },
        { timeout: 15_000, interval: 50 },
      );
      expect(first).toMatchObject({
        task_id,
        user_id: 1,
        event: 'queued',
        host: 'nowhere.invalid',
        state: 'open',
        last_status: null,
        last_error: expect.any(String),
        last_try_at: expect.any(Number),
        next_try_at: expect.any(Number),
        closed_at: null,
      });
      const found = async (query: Record<string, string | number>) =>
        dataOf<Page>(await call({ query: { ...query, page_size: 1000 } })).items.some(
          ({ id }) => id === first?.id,
        );
      const own: Record<string, string | number>[] = [
        { host: 'NOWHERE.invalid' },
        { user_id: 1 },
        { state: 'open' },
      ];
      for (const query of own) expect(await found(query), JSON.stringify(query)).toBe(true);
      const others: Record<string, string | number>[] = [
        { host: 'nowhere' },
        { user_id: 2 },
        { state: 'given_up' },
        { task_id: 'task_nobody' },
      ];
      for (const query of others) expect(await found(query), JSON.stringify(query)).toBe(false);
    });

    test('returns nothing after the last page', async () => {
      const behind = await call({ query: { p: 2147483647, page_size: 1000 } });
      expect(dataOf<Page>(behind)).toEqual({ items: [], total: expect.any(Number) });
    });
  },
});
