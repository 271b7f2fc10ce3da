import { expect, inject, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { newUser } from '../../support/operator.ts';

describeOperation('listUserStatements', {
  gatewayTests(call) {
    test('lists the current month of a new user', async () => {
      const { id } = await newUser(inject('gateway'));
      const month = new Date().toISOString().slice(0, 7);
      expect(dataOf(await call({ path: { id: String(id) } }))).toMatchObject({
        items: [{ month, final: false }],
      });
    });
  },
});
