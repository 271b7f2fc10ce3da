import { expect, inject, test } from 'vitest';
import { newCustomer } from '../../support/accounts.ts';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('createMyAccountToken', {
  invalid: {
    'an id that is not a number': { path: { account_id: 'paris' }, field: 'account_id' },
    'no name': { body: { unlimited_quota: true }, field: 'name' },
    'neither a quota nor unlimited_quota': { body: { name: 'k' }, field: 'remain_quota' },
    'a quota below 0': { body: { name: 'k', remain_quota: -1 }, field: 'remain_quota', limit: 0 },
    'an expiry of 0': {
      body: { name: 'k', remain_quota: 0, expired_time: 0 },
      field: 'expired_time',
      limit: -1,
    },
    'the scope admin': { body: { name: 'k', unlimited_quota: true, admin: true }, field: 'admin' },
    'a group': { body: { name: 'k', unlimited_quota: true, group: 'default' }, field: 'group' },
  },
  gatewayTests(call) {
    const target = inject('gateway');

    test('returns a key of the sub-account with its secret', async () => {
      const { headers, account } = await newCustomer(target);
      const path = { account_id: String(account.id) };
      const token = dataOf<{ key: string }>(await call({ path, headers, example: 'limited' }));
      expect(token).toMatchObject({
        key: expect.stringMatching(/^sk-[\w-]{43}$/),
        remain_quota: 500,
        expired_time: 4_102_444_800,
        created_by: null,
        member_id: null,
      });
      const me = await fetch(`${target.url}/api/me`, { headers: { authorization: `Bearer ${token.key}` } });
      expect(await me.json()).toMatchObject({ data: { user: { id: account.id } } });
    });

    test('refuses a sub-account of another user, also the own user', async () => {
      const { headers, user } = await newCustomer(target);
      const { account } = await newCustomer(target);
      for (const id of [account.id, user.id])
        expectError(await call({ path: { account_id: String(id) }, headers }), 404, { code: 'not_found' });
    });
  },
});
