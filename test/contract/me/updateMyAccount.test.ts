import { expect, inject, test } from 'vitest';
import { newCustomer } from '../../support/accounts.ts';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('updateMyAccount', {
  invalid: {
    'an id that is not a number': { path: { account_id: 'paris' }, field: 'account_id' },
    'an empty name': { body: { name: '' }, field: 'name', limit: 1 },
    'a state that is not a boolean': { body: { disabled: 'yes' }, field: 'disabled' },
    'a group': { body: { group: 'default' }, field: 'group' },
  },
  gatewayTests(call) {
    const target = inject('gateway');

    test('renames and disables a sub-account of the user, and no other', async () => {
      const { headers, account } = await newCustomer(target);
      const path = { account_id: String(account.id) };
      const changed = await call({ path, headers, body: { name: 'Lyon office', disabled: true } });
      expect(dataOf(changed)).toMatchObject({ id: account.id, name: 'Lyon office', disabled: true });
      expect(dataOf(await call({ path, headers, body: {} }))).toMatchObject({ disabled: true });
      const foreign = { account_id: String((await newCustomer(target)).account.id) };
      expectError(await call({ path: foreign, headers, body: { name: 'x' } }), 404, { code: 'not_found' });
    });
  },
});
