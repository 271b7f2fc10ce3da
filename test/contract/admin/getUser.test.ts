import { expect, inject, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { newToken, newUser } from '../../support/operator.ts';

describeOperation('getUser', {
  invalid: {
    'an id that is not a number': { path: { id: 'root' }, field: 'id' },
  },
  gatewayTests(call) {
    test('returns a user with the totals of its keys', async () => {
      const user = await newUser(inject('gateway'), { name: 'Ada' });
      await newToken(inject('gateway'), user.id, { remain_quota: 700 });
      const found = dataOf(await call({ path: { id: String(user.id) } }));
      expect(found).toEqual({ ...user, keys: 1, remain_quota: 700, used_quota: 0 });
    });

    test('refuses a key without the scope admin, and an unknown id', async () => {
      expectError(await call({ as: 'noQuota', path: { id: '1' } }), 403);
      expectError(await call({ path: { id: '999999999' } }), 404, { field: 'id' });
    });
  },
});
