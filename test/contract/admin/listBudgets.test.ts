import { expect, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { newBudget } from '../../support/budgets.ts';
import { describeOperation } from '../../support/contract.ts';

describeOperation('listBudgets', {
  invalid: {
    'page 0': { query: { p: 0 }, field: 'p', limit: 1 },
    'a page size of 1001': { query: { page_size: 1001 }, field: 'page_size', limit: 1000 },
  },
  gatewayTests(call) {
    test('lists the budgets of a user', async () => {
      const budget = await newBudget();
      const response = await call({ query: { user_id: budget.user_id } });
      expect(dataOf(response)).toEqual({ items: [budget], total: 1 });
      const behind = await call({ query: { user_id: budget.user_id, p: 2 } });
      expect(dataOf(behind)).toEqual({ items: [], total: 1 });
    });
  },
});
