import { expect, test, vi } from 'vitest';
import { callAsAdmin, type Delivery, dataOf, listChangesOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { startOfficialTask } from '../../support/start-official-task.ts';

/** Returns a callback that has failed. */
async function failing(): Promise<Delivery> {
  const task_id = await startOfficialTask({ callback_url: 'https://nowhere.invalid/hook' });
  return vi.waitFor(
    async () => {
      const { items } = await callAsAdmin<{ items: Delivery[] }>('searchDeliveries', { query: { task_id } });
      const first = items.at(-1);
      if (first === undefined || first.tries === 0) throw new Error('it was not tried yet');
      return first;
    },
    { timeout: 15_000, interval: 50 },
  );
}

describeOperation('resendDelivery', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
    'id 0': { path: { id: '0' }, field: 'id', limit: 1 },
  },
  gatewayTests(call) {
    test('resends a pending delivery early and records it', async () => {
      const { id, tries } = await failing();
      expect(dataOf<Delivery>(await call({ path: { id: String(id) } }))).toMatchObject({ id, state: 'open' });
      expect(await listChangesOf(`delivery ${id}`)).toMatchObject([
        { action: 'resendDelivery', details: {} },
      ]);
      await vi.waitFor(
        async () => {
          const query = { state: 'open', page_size: 1000 };
          const { items } = await callAsAdmin<{ items: Delivery[] }>('searchDeliveries', { query });
          expect(items.find((one) => one.id === id)?.tries).toBeGreaterThan(tries);
        },
        { timeout: 8_000, interval: 50 },
      );
    });

    test('404 an unknown delivery', async () => {
      expectError(await call({ path: { id: String(Number.MAX_SAFE_INTEGER) } }), 404, { field: 'id' });
    });
  },
});
