import { expect, inject, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { newCustomer } from '../../support/accounts.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { newToken } from '../../support/operator.ts';

describeOperation('deleteMyAccountToken', {
  invalid: {
    'an id that is not a number': { path: { account_id: 'paris' }, field: 'account_id' },
    'an id of a key that is not a number': { path: { id: 'web' }, field: 'id' },
  },
  gatewayTests(call) {
    const target = inject('gateway');

    test('deletes a key of the sub-account, and no other', async () => {
      const { headers, account, user } = await newCustomer(target);
      const { id } = await newToken(target, account.id, { unlimited_quota: true });
      const own = await newToken(target, user.id, { unlimited_quota: true });
      const path = { account_id: String(account.id), id: String(id) };
      expectError(await call({ path: { ...path, id: String(own.id) }, headers }), 404, { code: 'not_found' });
      expect(jsonOf(await call({ path, headers }))).toEqual({ success: true, message: '' });
      expectError(await call({ path, headers }), 404, { code: 'not_found' });
    });
  },
});
