import { expect, inject, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { callAdmin, type User } from '../../support/operator.ts';

describeOperation('createUser', {
  invalid: {
    'without a name': { body: {}, field: 'name' },
    'a name of 65 characters': { body: { name: 'n'.repeat(65) }, field: 'name', limit: 64 },
    'another role': { body: { name: 'n', role: 'root' }, field: 'role' },
    'an unknown field': { body: { name: 'n', admin: true }, field: 'admin' },
  },
  gatewayTests(call) {
    test('creates a user without keys and records it', async () => {
      const response = await call({ body: { name: 'new team', role: 'admin' } });
      const { data } = jsonOf(response) as { data: User };
      expect(data).toEqual({
        id: expect.any(Number),
        name: 'new team',
        group: 'default',
        role: 'admin',
        disabled: false,
        created_time: expect.any(Number),
        keys: 0,
        remain_quota: 0,
        used_quota: 0,
        has_wallet: false,
        parent_id: null,
      });
      const query = { subject: `user ${data.id}` };
      expect(await callAdmin(inject('gateway'), 'listChanges', { query })).toEqual({
        items: [
          {
            id: expect.any(Number),
            user_id: 1,
            user_name: 'root',
            token_id: 1,
            cause: 'api',
            action: 'createUser',
            subject: `user ${data.id}`,
            details: { name: 'new team', group: 'default', role: 'admin' },
            created_at: expect.any(Number),
          },
        ],
        total: 1,
      });
    });

    test('400 an unknown group', async () => {
      for (const group of ['nobody', 'constructor'])
        expectError(await call({ body: { name: 'n', group } }), 400, { field: 'group', includes: [group] });
    });
  },
});
