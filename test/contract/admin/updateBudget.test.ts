import { expect, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { invalidBudgetFields, newBudget } from '../../support/budgets.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('updateBudget', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
    'no change': { body: {}, field: 'body', limit: 1 },
    ...invalidBudgetFields,
  },
  gatewayTests(call) {
    test('changes a budget, and only the fields of the request', async () => {
      const budget = await newBudget();
      const path = { id: String(budget.id) };
      expect(dataOf(await call({ path, body: { hard: true } }))).toEqual({ ...budget, hard: true });
      const change = { amount: 20, hard: false, thresholds: [90] };
      expect(dataOf(await call({ path, body: change }))).toEqual({ ...budget, ...change });
    });

    test('404 an unknown budget', async () => {
      const path = { id: String(Number.MAX_SAFE_INTEGER) };
      expectError(await call({ path, body: { amount: 1 } }), 404, { field: 'id' });
    });
  },
});
