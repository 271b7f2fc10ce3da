import { expect } from 'vitest';
import { listChangesOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { invalidEndpointFields, testUnknownEndpoint, testUpdate } from '../../support/endpoint-tests.ts';

describeOperation('updateOperatorEndpoint', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
    'no change': { body: {}, field: 'body', limit: 1 },
    'a string for disabled': { body: { disabled: 'yes' }, field: 'disabled' },
    ...invalidEndpointFields,
  },
  gatewayTests(call) {
    testUpdate(call, 'operator', async (id) => {
      const changes = await listChangesOf(`endpoint ${id}`);
      expect(changes).toHaveLength(4);
      expect(JSON.stringify(changes)).not.toContain('hidden');
    });
    testUnknownEndpoint(call, 'operator', { body: { disabled: true } });
  },
});
