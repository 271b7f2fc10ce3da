import { expect, test } from 'vitest';
import { type HttpResponse, jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';

interface Page {
  data: { items: { name: string }[]; total: number };
}
const pageOf = (answer: HttpResponse) => {
  expect(answer.status, answer.body.toString()).toBe(200);
  return (jsonOf(answer) as Page).data;
};

describeOperation('listChannels', {
  invalid: {
    'page 0': { query: { p: 0 }, field: 'p', limit: 1 },
    'a page of 1001': { query: { page_size: 1001 }, field: 'page_size', limit: 1000 },
  },
  gatewayTests(call) {
    test('tells every channel, page by page, without keys', async () => {
      const answer = await call();
      const { items, total } = pageOf(answer);
      expect(items.map(({ name }) => name)).toContain('sandbox');
      expect(items.find(({ name }) => name === 'sandbox-embeddings')).toMatchObject({
        protocol: 'embeddings',
        host: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
        groups: null,
        disabled: null,
        figures: { waiting: 0, failures: { key_refused: expect.any(Number) } },
      });
      expect(total).toBe(items.length);
      expect(answer.body.toString()).not.toMatch(/upstream-key|sk-/);
      const { items: second } = pageOf(await call({ query: { p: 2, page_size: 1 } }));
      expect(second.map(({ name }) => name)).toEqual([items[1]?.name]);
      expect(pageOf(await call({ query: { p: 100 } }))).toEqual({ items: [], total });
    });
  },
});
