import { expect, inject, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { callAdmin, newToken, newUser } from '../../support/operator.ts';

/** Creates a daily budget of a new key. */
async function newBudget() {
  const target = inject('gateway');
  const user = await newUser(target);
  const { id: token_id } = await newToken(target, user.id);
  const body = { token_id, amount: 10, period: 'daily' };
  return callAdmin<{ id: number; user_id: number; amount: number }>(target, 'createBudget', { body });
}

describeOperation('updateBudget', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
    'no change': { body: {}, field: 'body', limit: 1 },
    'an amount below 0': { change: { amount: -1 }, field: 'amount', limit: 0 },
    'an amount with a fraction': { change: { amount: 0.5 }, field: 'amount' },
    'a string for hard': { change: { hard: 'yes' }, field: 'hard' },
    'a threshold of 0': { change: { thresholds: [0] }, field: 'thresholds.0', limit: 1 },
    'an unknown field': { change: { currency: 'EUR' }, field: 'currency' },
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
