import { expect, inject, test } from 'vitest';
import { type HttpResponse, jsonOf } from '../../conformance/wire/http-response.ts';
import { newCustomer } from '../../support/accounts.ts';
import { describeOperation } from '../../support/contract.ts';
import { callAdmin, newToken, newUser } from '../../support/operator.ts';

interface Page {
  data: { items: Record<string, unknown>[]; total: number };
}
const pageOf = (response: HttpResponse) => {
  expect(response.status, response.body.toString()).toBe(200);
  return (jsonOf(response) as Page).data;
};

describeOperation('listUsers', {
  invalid: {
    'page 0': { query: { p: 0 }, field: 'p', limit: 1 },
    'a page size of 1001': { query: { page_size: 1001 }, field: 'page_size', limit: 1000 },
    'a name of 129 characters': { query: { name: 'n'.repeat(129) }, field: 'name', limit: 128 },
    'a parent of 0': { query: { parent_id: 0 }, field: 'parent_id', limit: 1 },
    'an empty group': { query: { group: '' }, field: 'group', limit: 1 },
  },
  gatewayTests(call) {
    test('lists a user with the totals of its keys', async () => {
      const name = `Ünique ${crypto.randomUUID()}`;
      const user = await newUser(inject('gateway'), { name });
      await newToken(inject('gateway'), user.id, { remain_quota: 700 });
      await newToken(inject('gateway'), user.id, { remain_quota: 30, unlimited_quota: true });
      const revokedToken = await newToken(inject('gateway'), user.id, { remain_quota: 5 });
      await callAdmin(inject('gateway'), 'revokeToken', { path: { id: String(revokedToken.id) } });
      const item = { ...user, keys: 2, remain_quota: 700, used_quota: 0 };
      for (const part of [name, name.toLowerCase(), name.slice(2).toUpperCase()])
        expect(pageOf(await call({ query: { name: part, group: 'default' } }))).toEqual({
          items: [item],
          total: 1,
        });
      expect(pageOf(await call({ query: { name, group: 'nobody' } }))).toEqual({ items: [], total: 0 });
    });

    test('lists pages, newest first', async () => {
      const namePrefix = crypto.randomUUID();
      const created = [];
      for (const n of [1, 2, 3])
        created.push(await newUser(inject('gateway'), { name: `${namePrefix} ${n}` }));
      const ids = async (query: Record<string, string | number>) =>
        pageOf(await call({ query: { name: namePrefix, ...query } })).items.map(({ id }) => id);
      expect(await ids({})).toEqual(created.map(({ id }) => id).reverse());
      expect(await ids({ p: 2, page_size: 2 })).toEqual([created[0]?.id]);
      const all = pageOf(await call({ query: { page_size: 2 } }));
      expect(all.items).toHaveLength(2);
      expect(all.total).toBeGreaterThan(3);
      expect(pageOf(await call({ query: { p: 2147483647 } }))).toEqual({ items: [], total: all.total });
    });

    test('lists the sub-accounts of a user', async () => {
      const { user, account } = await newCustomer(inject('gateway'));
      const query = { parent_id: user.id };
      expect(pageOf(await call({ query }))).toMatchObject({ items: [{ id: account.id }], total: 1 });
      expect(pageOf(await call({ query: { ...query, name: 'no such name' } })).total).toBe(0);
      expect(pageOf(await call({ query: { parent_id: account.id } })).total).toBe(0);
    });

    test.each(['%', '_', '\\', "' or 1=1 --"])(
      'finds nobody for %s, which is not a wildcard',
      async (name) => {
        expect(pageOf(await call({ query: { name: `${name}${crypto.randomUUID()}` } })).total).toBe(0);
      },
    );
  },
});
