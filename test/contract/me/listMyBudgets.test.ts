import { expect, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';

describeOperation('listMyBudgets', {
  gatewayTests(call) {
    test('a key with limits does not see the budgets of other keys', async () => {
      expect(dataOf(await call())).toMatchObject({ items: expect.any(Array) });
      expect(dataOf(await call({ as: 'noQuota' }))).toEqual({ items: [], total: 0 });
    });
  },
});
