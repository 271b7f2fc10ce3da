import { expect, test, vi } from 'vitest';
import { callAsAdmin, dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { newEndpoint } from '../../support/endpoints.ts';
import { expectError } from '../../support/expectations.ts';

interface Delivery {
  id: number;
  tries: number;
}

describeOperation('resendEndpointDelivery', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine', delivery_id: '1' }, field: 'id' },
    'delivery id 0': { path: { id: '1', delivery_id: '0' }, field: 'delivery_id', limit: 1 },
  },
  gatewayTests(call) {
    test('sends an open delivery early', async () => {
      const { id } = await newEndpoint('createEndpoint');
      const path = { id: String(id) };
      const sent = await callAsAdmin<Delivery>('testEndpoint', { path });
      const tries = async () => {
        const { items } = await callAsAdmin<{ items: Delivery[] }>('listEndpointDeliveries', { path });
        return items[0]?.tries ?? 0;
      };
      await vi.waitFor(async () => expect(await tries()).toBeGreaterThan(0));
      const before = await tries();
      const response = await call({ path: { ...path, delivery_id: String(sent.id) } });
      expect(dataOf(response)).toMatchObject({ id: sent.id, event: 'ping', state: 'open' });
      await vi.waitFor(async () => expect(await tries()).toBeGreaterThan(before), { timeout: 8_000 });
    });

    test('404 for an unknown delivery, and for one of another endpoint', async () => {
      const [one, other] = [await newEndpoint('createEndpoint'), await newEndpoint('createEndpoint')];
      const sent = await callAsAdmin<Delivery>('testEndpoint', { path: { id: String(other.id) } });
      for (const delivery of [sent.id, Number.MAX_SAFE_INTEGER]) {
        const path = { id: String(one.id), delivery_id: String(delivery) };
        expectError(await call({ path }), 404, { field: 'delivery_id' });
      }
      const path = { id: String(Number.MAX_SAFE_INTEGER), delivery_id: String(sent.id) };
      expectError(await call({ path }), 404, { field: 'id' });
    });

    test('403 for a disabled endpoint', async () => {
      const { id } = await newEndpoint('createEndpoint');
      const path = { id: String(id) };
      const sent = await callAsAdmin<Delivery>('testEndpoint', { path });
      await callAsAdmin('updateEndpoint', { path, body: { disabled: true } });
      expectError(await call({ path: { ...path, delivery_id: String(sent.id) } }), 403, { field: 'id' });
    });
    test('403 for a key with limits', async () => {
      expectError(await call({ path: { id: '1', delivery_id: '1' }, as: 'noQuota' }), 403, {
        includes: ['limits'],
      });
    });
  },
});
