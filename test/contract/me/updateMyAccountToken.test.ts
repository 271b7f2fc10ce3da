import { expect, inject, test } from 'vitest';
import { newCustomer } from '../../support/accounts.ts';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { newToken } from '../../support/operator.ts';

describeOperation('updateMyAccountToken', {
  invalid: {
    'an id that is not a number': { path: { account_id: 'paris' }, field: 'account_id' },
    'an id of a key that is not a number': { path: { id: 'web' }, field: 'id' },
    'a status that only the gateway sets': { body: { status: 3 }, field: 'status' },
    'a quota': { body: { remain_quota: 5 }, field: 'remain_quota' },
    'the scope admin': { body: { admin: true }, field: 'admin' },
    'a group': { body: { group: 'default' }, field: 'group' },
  },
  gatewayTests(call) {
    const target = inject('gateway');

    test('changes a key of the sub-account, and no other', async () => {
      const { headers, account, user } = await newCustomer(target);
      const { id } = await newToken(target, account.id, { unlimited_quota: true });
      const path = { account_id: String(account.id), id: String(id) };
      expect(dataOf(await call({ path, headers, example: 'limited' }))).toMatchObject({
        id,
        name: 'trial',
        expired_time: 4_102_444_800,
        model_limits: 'alpha3-tts-flash,voxa-v3-flash',
        allow_ips: '192.0.2.7',
        requests_per_minute: 60,
        unlimited_quota: true,
      });
      expect(dataOf(await call({ path, headers, example: 'disabled' }))).toMatchObject({ id, status: 2 });
      const own = await newToken(target, user.id, { unlimited_quota: true });
      for (const other of [
        { ...path, id: String(own.id) },
        { ...path, account_id: String(user.id) },
      ])
        expectError(await call({ path: other, headers, example: 'disabled' }), 404, { code: 'not_found' });
    });
  },
});
