import { expect, inject, test } from 'vitest';
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
