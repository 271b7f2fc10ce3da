import { expect, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { type CreatedEndpoint, newEndpoint } from '../../support/endpoints.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('listEndpoints', {
  gatewayTests(call) {
    test('lists the endpoints of the user without their secrets', async () => {
      const { secret, ...endpoint } = await newEndpoint('createEndpoint');
      const other = await newEndpoint('createOperatorEndpoint');
      const response = await call();
      const { items, total } = dataOf<{ items: CreatedEndpoint[]; total: number }>(response);
      expect(items).toContainEqual(endpoint);
      expect(items).toHaveLength(total);
      expect(items.map(({ id }) => id)).not.toContain(other.id);
      expect(response.body.toString()).not.toContain(secret);
    });
    test('403 for a key with limits', async () => {
      expectError(await call({ as: 'noQuota' }), 403, { includes: ['limits'] });
    });
  },
});
