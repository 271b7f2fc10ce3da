import { expect, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { type CreatedEndpoint, newEndpoint } from '../../support/endpoints.ts';

describeOperation('listOperatorEndpoints', {
  gatewayTests(call) {
    test('lists the endpoints of the operator without their secrets', async () => {
      const { secret, ...endpoint } = await newEndpoint('createOperatorEndpoint');
      const other = await newEndpoint('createEndpoint');
      const response = await call();
      const { items, total } = dataOf<{ items: CreatedEndpoint[]; total: number }>(response);
      expect(items).toContainEqual(endpoint);
      expect(items).toHaveLength(total);
      expect(items.map(({ id }) => id)).not.toContain(other.id);
      expect(response.body.toString()).not.toContain(secret);
    });
  },
});
