import { expect, test } from 'vitest';
import { type HttpResponse, jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';

interface Page {
  data: { items: { name: string }[]; total: number };
}
const pageOf = (response: HttpResponse) => {
  expect(response.status, response.body.toString()).toBe(200);
  return (jsonOf(response) as Page).data;
};

describeOperation('listChannels', {
  invalid: {
    'page 0': { query: { p: 0 }, field: 'p', limit: 1 },
    'a page size of 1001': { query: { page_size: 1001 }, field: 'page_size', limit: 1000 },
  },
  gatewayTests(call) {
    test('lists every channel in pages, without keys', async () => {
      const response = await call();
      const { items, total } = pageOf(response);
      expect(items.map(({ name }) => name)).toContain('sandbox');
      expect(items.find(({ name }) => name === 'sandbox-embeddings')).toMatchObject({
        protocol: 'embeddings',
        host: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
        groups: null,
        disabled: null,
        figures: { waiting: 0, failures: { key_refused: expect.any(Number) } },
      });
      expect(total).toBe(items.length);
      expect(response.body.toString()).not.toMatch(/upstream-key|sk-/);
      const { items: second } = pageOf(await call({ query: { p: 2, page_size: 1 } }));
      expect(second.map(({ name }) => name)).toEqual([items[1]?.name]);
      expect(pageOf(await call({ query: { p: 100 } }))).toEqual({ items: [], total });
    });
  },
});
