import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';
import { callAdmin, newUser } from '../../support/operator.ts';

describeOperation('listUserStatements', {
  gatewayTests(call) {
    test('lists the current month of a new user', async () => {
      const { id } = await newUser(inject('gateway'));
      const month = new Date().toISOString().slice(0, 7);
      expect(dataOf(await call({ path: { id: String(id) } }))).toMatchObject({
        items: [{ month, final: false }],
      });
    });

    test('lists no month from the opening of a wallet on', async () => {
      const target = inject('gateway');
      const path = { id: String((await newUser(target)).id) };
      await callAdmin(target, 'openWallet', { path });
      expect(dataOf(await call({ path }))).toEqual({ items: [] });
      const month = new Date().toISOString().slice(0, 7);
      const statement = documented('getUserStatement');
      expectError(await exchange(target, statement, { path: { ...path, month } }), 404, { field: 'month' });
    });
  },
});
