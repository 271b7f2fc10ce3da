import { expect, inject, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { callAdmin, newToken, newUser } from '../../support/operator.ts';

describeOperation('listMyAccounts', {
  gatewayTests(call) {
    const target = inject('gateway');

    test('lists the sub-accounts of the user, and of no other one', async () => {
      const user = await newUser(target);
      await callAdmin(target, 'openWallet', { path: { id: String(user.id) } });
      const account = await newUser(target, { name: 'Paris office', parent_id: user.id });
      const list = async (userId: number) => {
        const { key } = await newToken(target, userId, { unlimited_quota: true });
        return dataOf(await call({ headers: { authorization: `Bearer ${key}` } }));
      };
      expect(await list(user.id)).toMatchObject({
        items: [{ id: account.id, name: 'Paris office', keys: 0 }],
      });
      expect(await list(account.id)).toEqual({ items: [] });
    });

    test('refuses a key with limits', async () => {
      const { key } = await newToken(target, (await newUser(target)).id, { remain_quota: 10 });
      expect((await call({ headers: { authorization: `Bearer ${key}` } })).status).toBe(403);
    });
  },
});
