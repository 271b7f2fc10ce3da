import { expect, test } from 'vitest';
import { newBudget } from '../../support/budgets.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('deleteBudget', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
    'id 0': { path: { id: '0' }, field: 'id', limit: 1 },
  },
  gatewayTests(call) {
    test('deletes a budget', async () => {
      const path = { id: String((await newBudget()).id) };
      expect((await call({ path })).status).toBe(200);
      expectError(await call({ path }), 404, { field: 'id' });
    });
  },
});
