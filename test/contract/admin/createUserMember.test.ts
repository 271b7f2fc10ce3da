import { expect, inject, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { newUser } from '../../support/operator.ts';

describeOperation('createUserMember', {
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
    const owner = async () => ({ id: (await newUser(target)).id, headers: {} });

    test('adds a member without keys', async () => {
      const { id, headers } = await owner();
      const body = { name: 'Ada', role: 'developer' };
      expect(dataOf(await call({ path: { id: String(id) }, headers, body }))).toEqual({
        id: expect.any(Number),
        name: 'Ada',
        role: 'developer',
        keys: 0,
        created_time: expect.any(Number),
      });
    });
  },
});
