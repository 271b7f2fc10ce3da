import { expect, inject, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { newMember } from '../../support/members.ts';
import { newToken, newUser } from '../../support/operator.ts';

describeOperation('listMyMembers', {
  gatewayTests(call) {
    const target = inject('gateway');
    const owner = async () => {
      const user = await newUser(target);
      const { key } = await newToken(target, user.id, { unlimited_quota: true });
      return { id: user.id, headers: { authorization: `Bearer ${key}` } };
    };

    test('lists the members of the user, oldest first', async () => {
      const { id, headers } = await owner();
      await newMember(target, (await newUser(target)).id);
      const first = await newMember(target, id, { name: 'Ada', role: 'owner' });
      const second = await newMember(target, id, { name: 'Bo', role: 'billing' });
      expect(dataOf(await call({ headers }))).toEqual({ items: [first, second] });
    });

    test('refuses a key with limits', async () => {
      const { key } = await newToken(target, (await newUser(target)).id, { remain_quota: 5 });
      const headers = { authorization: `Bearer ${key}` };
      expectError(await call({ headers }), 403, { code: 'access_denied' });
    });
  },
});
