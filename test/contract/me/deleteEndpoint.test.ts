import { expect, test } from 'vitest';
import { callAsAdmin } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { newEndpoint } from '../../support/endpoints.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('deleteEndpoint', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
    'id 0': { path: { id: '0' }, field: 'id', limit: 1 },
  },
  gatewayTests(call) {
    test('deletes an endpoint', async () => {
      const body = { url: 'https://app.example/events', events: ['task.stuck'] };
      const { id } = await callAsAdmin<{ id: number }>('createEndpoint', { body });
      expect((await call({ path: { id: String(id) } })).status).toBe(200);
      expectError(await call({ path: { id: String(id) } }), 404, { field: 'id' });
    });

    test('404 for an unknown endpoint, and for one of the operator', async () => {
      const other = await newEndpoint('createOperatorEndpoint');
      for (const id of [other.id, Number.MAX_SAFE_INTEGER])
        expectError(await call({ path: { id: String(id) } }), 404, { field: 'id' });
    });
    test('403 for a key with limits', async () => {
      expectError(await call({ path: { id: '1' }, as: 'noQuota' }), 403, { includes: ['limits'] });
    });
  },
});
