import { expect, test } from 'vitest';
import { callAsAdmin, dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { newEndpoint } from '../../support/endpoints.ts';
import { expectError } from '../../support/expectations.ts';

interface Page {
  items: { id: number; event: string }[];
  total: number;
}

describeOperation('listEndpointDeliveries', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
    'id 0': { path: { id: '0' }, field: 'id', limit: 1 },
    'page 0': { query: { p: 0 }, field: 'p', limit: 1 },
    'a page size of 1001': { query: { page_size: 1001 }, field: 'page_size', limit: 1000 },
  },
  gatewayTests(call) {
    test('lists the deliveries to the endpoint, the newest first', async () => {
      const { id } = await newEndpoint('createEndpoint');
      const path = { id: String(id) };
      const first = await callAsAdmin<{ id: number }>('testEndpoint', { path });
      const second = await callAsAdmin<{ id: number }>('testEndpoint', { path });
      const items = [{ id: second.id, event: 'ping' }, { id: first.id }];
      expect(dataOf<Page>(await call({ path }))).toMatchObject({ items, total: 2 });
      const last = await call({ path, query: { page_size: 1, p: 2 } });
      expect(dataOf<Page>(last)).toMatchObject({ items: [{ id: first.id }], total: 2 });
      expect(dataOf<Page>(await call({ path, query: { p: 3 } }))).toEqual({ items: [], total: 2 });
    });

    test('404 for an unknown endpoint, and for one of the operator', async () => {
      const other = await newEndpoint('createOperatorEndpoint');
      for (const id of [other.id, Number.MAX_SAFE_INTEGER])
        expectError(await call({ path: { id: String(id) } }), 404, { field: 'id' });
    });
    test('403 for a key with limits', async () => {
      expectError(await call({ path: { id: '1' }, as: 'noQuota' }), 403, { includes: ['limits'] });
    });
  },
});
