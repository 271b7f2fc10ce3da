import { expect, inject, test } from 'vitest';
import { dataOf, listChangesOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { callAdmin, newToken, newUser } from '../../support/operator.ts';

describeOperation('openWallet', {
  invalid: { 'an id that is not a number': { path: { id: 'mine' }, field: 'id' } },
  gatewayTests(call) {
    const target = inject('gateway');

    test('takes over the quota of the keys, which becomes their limit', async () => {
      const user = await newUser(target);
      const path = { id: String(user.id) };
      const token = await newToken(target, user.id, { remain_quota: 70 });
      await newToken(target, user.id, { remain_quota: 30 });
      await newToken(target, user.id, { unlimited_quota: true });
      const wallet = dataOf(await call({ path }));
      expect(wallet).toEqual({
        user_id: user.id,
        balance: 100,
        reserved: 0,
        used: 0,
        debt: 0,
        created_time: expect.any(Number),
      });
      expect(dataOf(await call({ path }))).toEqual(wallet);
      const { items } = await callAdmin<{ items: object[] }>(target, 'searchTokens', {
        query: { user_id: user.id },
      });
      expect(items).toContainEqual(expect.objectContaining({ id: token.id, remain_quota: 70 }));
      const changes = await listChangesOf(`user ${user.id}`);
      expect(changes).toMatchObject([{ action: 'openWallet', details: { quota: 100, debt: 0 } }, {}]);
    });

    test('400 if the keys have more than a wallet may have', async () => {
      const user = await newUser(target);
      for (let key = 0; key < 2; key += 1) await newToken(target, user.id, { remain_quota: 10 ** 15 });
      const response = await call({ path: { id: String(user.id) } });
      expectError(response, 400, { field: 'id', includes: [String(2 * 10 ** 15), String(10 ** 15)] });
    });

    test('404 for an unknown user', async () => {
      expectError(await call({ path: { id: String(Number.MAX_SAFE_INTEGER) } }), 404, { field: 'id' });
    });
  },
});
