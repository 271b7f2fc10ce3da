import { expect, inject, test } from 'vitest';
import { newCustomer } from '../../support/accounts.ts';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('createMyAccount', {
  invalid: {
    'no name': { body: {}, field: 'name' },
    'an empty name': { body: { name: '' }, field: 'name', limit: 1 },
    'a name of 65 characters': { body: { name: 'n'.repeat(65) }, field: 'name', limit: 64 },
    'a group': { body: { name: 'Paris office', group: 'default' }, field: 'group' },
    'a parent': { body: { name: 'Paris office', parent_id: 1 }, field: 'parent_id' },
  },
  gatewayTests(call) {
    test('creates a sub-account without keys', async () => {
      const { headers } = await newCustomer(inject('gateway'));
      expect(dataOf(await call({ headers }))).toEqual({
        id: expect.any(Number),
        name: 'Paris office',
        group: 'default',
        disabled: false,
        keys: 0,
        used_quota: 0,
        created_time: expect.any(Number),
      });
    });

    test('refuses a user without a wallet and a sub-account', async () => {
      expectError(await call(), 403, { code: 'access_denied' });
      const { accountHeaders } = await newCustomer(inject('gateway'));
      expectError(await call({ headers: accountHeaders }), 403, { code: 'access_denied' });
    });
  },
});
