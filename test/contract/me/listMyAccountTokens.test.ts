import { expect, inject, test } from 'vitest';
import { newCustomer } from '../../support/accounts.ts';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('listMyAccountTokens', {
  invalid: {
    'an id that is not a number': { path: { account_id: 'paris' }, field: 'account_id' },
    'a page of 0': { query: { p: 0 }, field: 'p', limit: 1 },
  },
  gatewayTests(call) {
    const target = inject('gateway');

    test('lists the keys of the sub-account with masked secrets', async () => {
      const { headers, account } = await newCustomer(target);
      const path = { account_id: String(account.id) };
      const page = dataOf<{ items: { key: string }[]; total: number }>(await call({ path, headers }));
      expect(page).toMatchObject({ items: [{ created_by: null, admin: false }], total: 1 });
      expect(page.items[0]?.key).toMatch(/^sk-\*\*\*/);
    });

    test('refuses a sub-account of another user, also the own user', async () => {
      const { headers, user } = await newCustomer(target);
      const { account } = await newCustomer(target);
      for (const id of [account.id, user.id])
        expectError(await call({ path: { account_id: String(id) }, headers }), 404, { code: 'not_found' });
    });
  },
});
