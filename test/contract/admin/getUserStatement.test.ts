import { expect, inject, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { newToken, newUser } from '../../support/operator.ts';

describeOperation('getUserStatement', {
  invalid: {
    'a 13th month': { path: { month: '2026-13' }, field: 'month' },
    'an unknown format': { query: { format: 'pdf' }, field: 'format' },
  },
  gatewayTests(call) {
    const month = new Date().toISOString().slice(0, 7);

    test('returns the statement of another user in every format', async () => {
      const target = inject('gateway');
      const { id } = await newUser(target);
      await newToken(target, id, { remain_quota: 7 });
      const path = { id: String(id), month };
      expect(dataOf(await call({ path }))).toMatchObject({
        user: { id },
        grants: { quota: 7 },
        closing: { balance: 7 },
      });
      const csv = await call({ path, query: { format: 'csv' } });
      expect(csv.headers.get('content-type')).toContain('text/csv');
      const page = await call({ path, query: { format: 'html' } });
      expect(page.body.toString('utf8')).toContain(`User ${id}`);
    });
  },
});
