import { expect, inject, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { newMember } from '../../support/members.ts';
import { newToken, newUser } from '../../support/operator.ts';

describeOperation('updateMyMember', {
  invalid: {
    'an unknown role': { body: { name: 'Ada', role: 'admin' }, field: 'role' },
    'an empty name': { body: { name: '', role: 'owner' }, field: 'name', limit: 1 },
    'a name of 65 characters': {
      body: { name: 'n'.repeat(65), role: 'owner' },
      field: 'name',
      limit: 64,
    },
  },
  gatewayTests(call) {
    const target = inject('gateway');
    const owner = async () => {
      const user = await newUser(target);
      const { key } = await newToken(target, user.id, { unlimited_quota: true });
      return { id: user.id, headers: { authorization: `Bearer ${key}` } };
    };

    test('changes a member of the user, and no other', async () => {
      const { id, headers } = await owner();
      const member = await newMember(target, id, { name: 'Ada', role: 'billing' });
      const path = { member_id: String(member.id) };
      const changed = await call({ path, headers, body: { role: 'owner' } });
      expect(dataOf(changed)).toEqual({ ...member, role: 'owner' });
      const other = await newMember(target, (await newUser(target)).id);
      const foreign = { ...path, member_id: String(other.id) };
      expectError(await call({ path: foreign, headers, body: { name: 'x' } }), 404, { code: 'not_found' });
    });
  },
});
