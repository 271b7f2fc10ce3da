import { expect, inject, test } from 'vitest';
import { type HttpResponse, jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { callAdmin, newToken, newUser, type Token } from '../../support/operator.ts';

interface Page {
  data: { items: { id: number; name: string; key: string; created_by: number | null }[]; total: number };
}
const pageOf = (response: HttpResponse) => {
  expect(response.status).toBe(200);
  return (jsonOf(response) as Page).data;
};

describeOperation('listTokens', {
  invalid: {
    'page 0': { query: { p: 0 }, field: 'p', limit: 1 },
    'a page size of 1001': { query: { page_size: 1001 }, field: 'page_size', limit: 1000 },
    'a page size that is not a number': { query: { page_size: 'all' }, field: 'page_size' },
  },
  gatewayTests(call) {
    const target = inject('gateway');
    const as = ({ key }: Token) => ({ headers: { authorization: `Bearer ${key}` } });
    /** Creates an unlimited key, a disabled one of the same user, and a limited one created by the first. */
    const keysOfUser = async () => {
      const user = await newUser(target);
      const unlimited = await newToken(target, user.id, { name: 'unlimited', unlimited_quota: true });
      const disabled = await newToken(target, user.id, { name: 'disabled' });
      await callAdmin(target, 'updateToken', { path: { id: String(disabled.id) }, body: { status: 2 } });
      const unlimitedTarget = { ...target, key: unlimited.key };
      const limited = await callAdmin<Token>(unlimitedTarget, 'createToken', {
        body: { name: 'limited', remain_quota: 1 },
      });
      return { unlimited, limited };
    };

    test('lists the masked keys of the user, newest first', async () => {
      const { unlimited } = await keysOfUser();
      const { items, total } = pageOf(await call(as(unlimited)));
      expect(items.map(({ name, created_by }) => [name, created_by])).toEqual([
        ['limited', unlimited.id],
        ['disabled', null],
        ['unlimited', null],
      ]);
      expect(total).toBe(3);
      for (const { key } of items) expect(key).toMatch(/^sk-\*\*\*[\w-]{4}$/);
    });

    test('lists a limited key for itself, without its creator', async () => {
      const { limited } = await keysOfUser();
      const { items, total } = pageOf(await call(as(limited)));
      expect(items).toMatchObject([{ id: limited.id, created_by: null }]);
      expect(total).toBe(1);
    });

    test('lists pages', async () => {
      const { unlimited } = await keysOfUser();
      const { items, total } = pageOf(await call(as(unlimited)));
      const second = pageOf(await call({ ...as(unlimited), query: { p: 2, page_size: 1 } }));
      expect(second).toEqual({ items: items.slice(1, 2), total });
      const last = pageOf(await call({ ...as(unlimited), query: { p: 2147483647, page_size: 1000 } }));
      expect(last).toEqual({ items: [], total });
    });
  },
});
