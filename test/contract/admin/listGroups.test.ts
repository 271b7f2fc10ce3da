import { expect, inject, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { newToken } from '../../support/operator.ts';

interface Page {
  data: { items: { name: string; keys: number }[]; total: number };
}

describeOperation('listGroups', {
  invalid: {
    'page 0': { query: { p: 0 }, field: 'p', limit: 1 },
    'a page size of 1001': { query: { page_size: 1001 }, field: 'page_size', limit: 1000 },
  },
  gatewayTests(call) {
    const groups = async (query = {}) => (jsonOf(await call({ query })) as Page).data;

    test('lists the configured group with its number of users and keys', async () => {
      const [before] = (await groups()).items;
      await newToken(inject('gateway'), 1, { group: 'default' });
      const { items, total } = await groups();
      expect({ items, total }).toEqual({
        items: [
          {
            name: 'default',
            configured: true,
            ratio: 1,
            models: ['*'],
            users: expect.any(Number),
            keys: (before?.keys ?? 0) + 1,
          },
        ],
        total: 1,
      });
      expect(await groups({ p: 2 })).toEqual({ items: [], total: 1 });
    });
  },
});
