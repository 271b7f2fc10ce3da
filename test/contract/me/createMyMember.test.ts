import { expect, inject, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { newToken, newUser } from '../../support/operator.ts';

describeOperation('createMyMember', {
  invalid: {
    'an unknown role': { body: { name: 'Ada', role: 'admin' }, field: 'role' },
    'an empty name': { body: { name: '', role: 'owner' }, field: 'name', limit: 1 },
    'a name of 65 characters': {
      body: { name: 'n'.repeat(65), role: 'owner' },
      field: 'name',
      limit: 64,
    },
    'no role': { body: { name: 'Ada' }, field: 'role' },
  },
  gatewayTests(call) {
    const target = inject('gateway');
    const owner = async () => {
      const user = await newUser(target);
      const { key } = await newToken(target, user.id, { unlimited_quota: true });
      return { id: user.id, headers: { authorization: `Bearer ${key}` } };
    };

    test('adds a member without keys', async () => {
      const { headers } = await owner();
      const body = { name: 'Ada', role: 'developer' };
      expect(dataOf(await call({ headers, body }))).toEqual({
        id: expect.any(Number),
        name: 'Ada',
        role: 'developer',
        keys: 0,
        created_time: expect.any(Number),
      });
    });

    test('refuses a key with limits', async () => {
      const { key } = await newToken(target, (await newUser(target)).id, { remain_quota: 5 });
      const headers = { authorization: `Bearer ${key}` };
      expectError(await call({ headers, body: { name: 'Ada', role: 'owner' } }), 403, {
        code: 'access_denied',
      });
    });
  },
});
