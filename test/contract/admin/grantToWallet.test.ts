import { expect, inject, test } from 'vitest';
import { dataOf, listChangesOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { newToken, newUser } from '../../support/operator.ts';

const body = { amount: 40, reference: 'payment 1', reason: 'March' };

describeOperation('grantToWallet', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
    'no amount': { body: { reference: 'p', reason: 'r' }, field: 'amount' },
    'an amount with a fraction': { body: { ...body, amount: 1.5 }, field: 'amount' },
    'no reference': { body: { amount: 1, reason: 'r' }, field: 'reference' },
    'a reference of 201 characters': {
      body: { ...body, reference: 'p'.repeat(201) },
      field: 'reference',
      limit: 200,
    },
    'an empty reason': { body: { ...body, reason: '' }, field: 'reason', limit: 1 },
    'an unknown field': { body: { ...body, unit: 'cent' }, field: 'unit' },
  },
  gatewayTests(call) {
    const target = inject('gateway');
    const newPath = async () => ({ path: { id: String((await newUser(target)).id) } });

    test('grants quota once for a reference, and opens the wallet', async () => {
      const user = await newUser(target);
      await newToken(target, user.id, { remain_quota: 5 });
      const path = { id: String(user.id) };
      const grant = dataOf(await call({ path, body }));
      expect(grant).toEqual({
        id: expect.any(Number),
        user_id: user.id,
        ...body,
        kind: 'given',
        debt_settled: 0,
        balance: 45,
        debt: 0,
        created_at: expect.any(Number),
      });
      expect(dataOf(await call({ path, body: { ...body, reference: 'payment 2' } }))).toMatchObject({
        balance: 85,
      });
      const repeated = await Promise.all([1, 2, 3].map(() => call({ path, body })));
      for (const response of repeated) expect(dataOf(response)).toEqual(grant);
      const other = await call({ path, body: { ...body, amount: 41 } });
      expectError(other, 400, { field: 'reference', includes: ['40'] });
      expect(await listChangesOf(`user ${user.id}`)).toMatchObject([
        { action: 'grantToWallet', details: { amount: 40, reference: 'payment 2', balance: 85 } },
        { action: 'grantToWallet', details: { amount: 40, reference: 'payment 1', balance: 45 } },
        { action: 'openWallet', details: { quota: 5 } },
        {},
      ]);
    });

    test('withdraws quota down to 0', async () => {
      const at = await newPath();
      await call({ ...at, body });
      const taken = { amount: -41, reference: 'correction', reason: 'r' };
      expectError(await call({ ...at, body: taken }), 403, { field: 'amount', includes: ['40'] });
      expect(dataOf(await call({ ...at, body: { ...taken, amount: -40 } }))).toMatchObject({ balance: 0 });
    });

    test('grants at most the maximum quota of a wallet', async () => {
      const at = await newPath();
      await call({ ...at, body });
      const much = { amount: 10 ** 15, reference: 'much', reason: 'r' };
      expectError(await call({ ...at, body: much }), 400, { field: 'amount', includes: [String(10 ** 15)] });
    });

    test('400 for a grant of 0', async () => {
      const response = await call({ ...(await newPath()), body: { ...body, amount: 0 } });
      expectError(response, 400, { field: 'amount', includes: ['0'] });
    });

    test('404 for an unknown user', async () => {
      expectError(await call({ path: { id: String(Number.MAX_SAFE_INTEGER) } }), 404, { field: 'id' });
    });
  },
});
