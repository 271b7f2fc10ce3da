import { expect, inject, test } from 'vitest';
import type { components } from '../../../generated/http.ts';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { callAdmin, newUser } from '../../support/operator.ts';

type Page = components['schemas']['WalletGrantListReply']['data'];

describeOperation('listWalletGrants', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
    'a cursor that is not a number': { query: { after: 'x' }, field: 'after' },
    'a page of 1001 grants': { query: { page_size: 1001 }, field: 'page_size', limit: 1000 },
  },
  gatewayTests(call) {
    const target = inject('gateway');

    test('lists grants newest first, page by page', async () => {
      const { id } = await newUser(target);
      const path = { id: String(id) };
      expect(dataOf(await call({ path }))).toEqual({ items: [], last_id: null, has_more: false });
      for (const reference of ['one', 'two'])
        await callAdmin(target, 'grantToWallet', { path, body: { amount: 5, reference, reason: 'r' } });
      const first = dataOf<Page>(await call({ path, query: { page_size: 2 } }));
      expect(first).toMatchObject({ items: [{ reference: 'two' }, { reference: 'one' }], has_more: true });
      const query = { page_size: 2, after: first.last_id ?? 0 };
      expect(dataOf(await call({ path, query }))).toMatchObject({
        items: [{ kind: 'taken_over', reference: null, amount: 0 }],
        has_more: false,
      });
    });

    test('404 for an unknown user', async () => {
      expectError(await call({ path: { id: String(Number.MAX_SAFE_INTEGER) } }), 404, { field: 'id' });
    });
  },
});
