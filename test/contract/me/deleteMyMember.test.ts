import { expect, inject, test } from 'vitest';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { newMember } from '../../support/members.ts';
import { newToken, newUser } from '../../support/operator.ts';

describeOperation('deleteMyMember', {
  gatewayTests(call) {
    const target = inject('gateway');
    const owner = async () => {
      const user = await newUser(target);
      const { key } = await newToken(target, user.id, { unlimited_quota: true });
      return { id: user.id, headers: { authorization: `Bearer ${key}` } };
    };

    test('removes a member of the user with its keys, and no other', async () => {
      const { id, headers } = await owner();
      const member = await newMember(target, id);
      const { key } = await newToken(target, id, { unlimited_quota: true, member_id: member.id });
      const me = () => fetch(`${target.url}/api/me`, { headers: { authorization: `Bearer ${key}` } });
      expect((await me()).status).toBe(200);
      const other = await newMember(target, (await newUser(target)).id);
      const path = { member_id: String(member.id) };
      const foreign = { ...path, member_id: String(other.id) };
      expectError(await call({ path: foreign, headers }), 404, { code: 'not_found' });
      expect((await call({ path, headers })).status).toBe(200);
      expect((await me()).status).toBe(401);
      expectError(await call({ path, headers }), 404, { code: 'not_found' });
    });
  },
});
