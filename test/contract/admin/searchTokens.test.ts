import { expect, inject, test } from 'vitest';
import { type HttpResponse, jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { callAdmin, newToken, newUser, type Token } from '../../support/operator.ts';

interface Page {
  data: { items: Record<string, unknown>[]; total: number };
}
const pageOf = (response: HttpResponse) => {
  expect(response.status, response.body.toString()).toBe(200);
  return (jsonOf(response) as Page).data;
};

describeOperation('searchTokens', {
  invalid: {
    'page 0': { query: { p: 0 }, field: 'p', limit: 1 },
    'a page size of 1001': { query: { page_size: 1001 }, field: 'page_size', limit: 1000 },
    'a status of 5': { query: { status: 5 }, field: 'status' },
    'a user that is not a number': { query: { user_id: 'root' }, field: 'user_id' },
    'a name of 129 characters': { query: { name: 'n'.repeat(129) }, field: 'name', limit: 128 },
  },
  gatewayTests(call) {
    const target = inject('gateway');

    test('finds masked keys of all users by user, name, group and status', async () => {
      const user = await newUser(target, { name: 'key owner' });
      const keys: Token[] = [];
      const fixtures: Parameters<typeof newToken>[2][] = [
        { name: 'Front End', remain_quota: 5 },
        { name: 'empty' },
        { name: 'off', unlimited_quota: true },
        { name: 'free', unlimited_quota: true, group: 'default' },
      ];
      for (const fields of fixtures) keys.push(await newToken(target, user.id, fields));
      const off = keys[2]?.id ?? 0;
      await callAdmin(target, 'updateToken', { path: { id: String(off) }, body: { status: 2 } });
      const names = async (query: Record<string, string | number>) => {
        const { items, total } = pageOf(await call({ query: { user_id: user.id, ...query } }));
        return [total, ...items.map(({ name }) => name)];
      };
      expect(await names({})).toEqual([4, 'free', 'off', 'empty', 'Front End']);
      expect(await names({ p: 2, page_size: 3 })).toEqual([4, 'Front End']);
      expect(await names({ name: 'front e' })).toEqual([1, 'Front End']);
      expect(await names({ name: 'FR', p: 2, page_size: 1 })).toEqual([2, 'Front End']);
      expect(await names({ group: 'default' })).toEqual([4, 'free', 'off', 'empty', 'Front End']);
      expect(await names({ group: 'nobody' })).toEqual([0]);
      expect(await names({ status: 1 })).toEqual([2, 'free', 'Front End']);
      expect(await names({ status: 2 })).toEqual([1, 'off']);
      expect(await names({ status: 3 })).toEqual([0]);
      expect(await names({ status: 4 })).toEqual([1, 'empty']);
      const [item] = pageOf(await call({ query: { user_id: user.id, name: 'front end' } })).items;
      expect(item).toEqual({
        ...keys[0],
        key: `sk-***${keys[0]?.key.slice(-4)}`,
        own_group: '',
        user_id: user.id,
        user_name: 'key owner',
        user_disabled: false,
      });
      const all = pageOf(await call({ query: { page_size: 1 } }));
      expect(all.total).toBeGreaterThan(4);
      expect(pageOf(await call({ query: { p: 2147483647 } }))).toEqual({ items: [], total: all.total });
    });
  },
});
