import { expect, inject, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { invalidBudgetFields } from '../../support/budgets.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { newToken, newUser } from '../../support/operator.ts';

describeOperation('createBudget', {
  invalid: {
    'without an amount': { change: { amount: undefined }, field: 'amount' },
    'an unknown period': { change: { period: 'hourly' }, field: 'period' },
    ...invalidBudgetFields,
  },
  gatewayTests(call) {
    const target = inject('gateway');

    test('creates a budget of a user, with defaults, and one of a key', async () => {
      const user = await newUser(target);
      const { id: token_id } = await newToken(target, user.id);
      const created = dataOf(await call({ body: { user_id: user.id, amount: 100, period: 'monthly' } }));
      expect(created).toMatchObject({
        user_id: user.id,
        token_id: null,
        amount: 100,
        period: 'monthly',
        time_zone: 'UTC',
        hard: false,
        thresholds: [50, 80, 100],
        spent: 0,
        reserved: 0,
      });
      const ofKey = { token_id, amount: 5, period: 'daily', time_zone: 'Europe/Berlin', hard: true };
      expect(dataOf(await call({ body: ofKey }))).toMatchObject({ ...ofKey, user_id: user.id });
      expectError(await call({ body: ofKey }), 400, { field: 'period' });
      expectError(await call({ body: { ...ofKey, user_id: 1 } }), 404, { field: 'token_id' });
    });

    test.each([
      ['neither a user nor a key', {}, 'user_id'],
      ['an unknown time zone', { user_id: 1, time_zone: 'Mars/Base' }, 'time_zone'],
    ])('400 %s', async (_, fields, field) => {
      expectError(await call({ body: { amount: 1, period: 'daily', ...fields } }), 400, { field });
    });

    test('404 an unknown user or key', async () => {
      for (const field of ['user_id', 'token_id']) {
        const body = { [field]: Number.MAX_SAFE_INTEGER, amount: 1, period: 'daily' };
        expectError(await call({ body }), 404, { field });
      }
    });
  },
});
