import { expect, inject, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { newMember } from '../../support/members.ts';
import { newUser } from '../../support/operator.ts';

describeOperation('listUserMembers', {
  gatewayTests(call) {
    const target = inject('gateway');
    const owner = async () => ({ id: (await newUser(target)).id, headers: {} });

    test('lists the members of the user, oldest first', async () => {
      const { id, headers } = await owner();
      await newMember(target, (await newUser(target)).id);
      const first = await newMember(target, id, { name: 'Ada', role: 'owner' });
      const second = await newMember(target, id, { name: 'Bo', role: 'billing' });
      expect(dataOf(await call({ path: { id: String(id) }, headers }))).toEqual({ items: [first, second] });
    });
  },
});
