import { expect, test } from 'vitest';
import { type Answer, jsonOf } from '../../../client/conformance/wire/answer.ts';
import { describeOperation } from '../../support/contract.ts';

interface Page {
  data: { items: { id: number; name: string; key: string }[]; total: number };
}
const pageOf = (answer: Answer) => {
  expect(answer.status).toBe(200);
  return (jsonOf(answer) as Page).data;
};

describeOperation('listTokens', {
  invalid: {
    'page 0': { query: { p: 0 }, names: 'p', limit: 1 },
    'a page of 1001': { query: { page_size: 1001 }, names: 'page_size', limit: 1000 },
    'a page size that is no number': { query: { page_size: 'all' }, names: 'page_size' },
  },
  carriesOut(call) {
    test("the keys of the caller's user, the newest first, masked", async () => {
      const { items, total } = pageOf(await call({ as: 'penniless', query: { page_size: 1000 } }));
      // The disabled one is among them, keys that others make meanwhile are not.
      expect(items.map(({ name }) => name)).toEqual(expect.arrayContaining(['penniless', 'revoked']));
      expect(total).toBe(items.length);
      expect(items.map(({ id }) => id)).toEqual(items.map(({ id }) => id).sort((a, b) => b - a));
      for (const { key } of items) expect(key).toMatch(/^sk-\*\*\*[\w-]{4}$/);
    });

    test('page by page', async () => {
      const { items, total } = pageOf(await call({ as: 'penniless' }));
      const second = pageOf(await call({ as: 'penniless', query: { p: 2, page_size: 1 } }));
      expect(second).toEqual({ items: items.slice(1, 2), total });
      const last = pageOf(await call({ as: 'penniless', query: { p: 2147483647, page_size: 1000 } }));
      expect(last).toEqual({ items: [], total });
    });
  },
});
