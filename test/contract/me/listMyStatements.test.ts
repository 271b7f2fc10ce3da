import { expect, inject, test } from 'vitest';
import type { operations } from '../../../generated/http.ts';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';
import { newToken, newUser } from '../../support/operator.ts';

type Months = operations['listMyStatements']['responses'][200]['content']['application/json']['data'];

describeOperation('listMyStatements', {
  gatewayTests(call) {
    const target = inject('gateway');

    test('lists the current month of a new user', async () => {
      const { key } = await newToken(target, (await newUser(target)).id, { unlimited_quota: true });
      const { items } = dataOf<Months>(await call({ headers: { authorization: `Bearer ${key}` } }));
      const month = new Date().toISOString().slice(0, 7);
      expect(items).toEqual([
        { month, since: Date.parse(`${month}-01`) / 1000, until: expect.any(Number), final: false },
      ]);
    });

    test('refuses a key with limits', async () => {
      const { key } = await newToken(target, (await newUser(target)).id, { remain_quota: 5 });
      expectError(await call({ headers: { authorization: `Bearer ${key}` } }), 403, {
        code: 'access_denied',
      });
    });
  },
});
