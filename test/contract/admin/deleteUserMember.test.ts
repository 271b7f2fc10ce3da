import { expect, inject, test } from 'vitest';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { newMember } from '../../support/members.ts';
import { newToken, newUser } from '../../support/operator.ts';

describeOperation('deleteUserMember', {
  gatewayTests(call) {
    const target = inject('gateway');
    const owner = async () => ({ id: (await newUser(target)).id, headers: {} });

    test('removes a member of the user with its keys, and no other', async () => {
      const { id, headers } = await owner();
      const member = await newMember(target, id);
      const { key } = await newToken(target, id, { unlimited_quota: true, member_id: member.id });
      const me = () => fetch(`${target.url}/api/me`, { headers: { authorization: `Bearer ${key}` } });
      expect((await me()).status).toBe(200);
      const other = await newMember(target, (await newUser(target)).id);
      const path = { id: String(id), member_id: String(member.id) };
      const foreign = { ...path, member_id: String(other.id) };
      expectError(await call({ path: foreign, headers }), 404, { code: 'not_found' });
      expect((await call({ path, headers })).status).toBe(200);
      expect((await me()).status).toBe(401);
      expectError(await call({ path, headers }), 404, { code: 'not_found' });
    });
  },
});
