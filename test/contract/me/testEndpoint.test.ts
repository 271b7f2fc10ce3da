import { expect, test } from 'vitest';
import { callAsAdmin, dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { newEndpoint } from '../../support/endpoints.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('testEndpoint', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
    'id 0': { path: { id: '0' }, field: 'id', limit: 1 },
  },
  gatewayTests(call) {
    test('schedules a test event', async () => {
      const { id } = await newEndpoint('createEndpoint');
      expect(dataOf(await call({ path: { id: String(id) } }))).toMatchObject({
        event: 'ping',
        event_id: expect.stringMatching(/^event_[0-9a-f]{32}$/),
        tries: 0,
      });
    });

    test('403 for a disabled endpoint', async () => {
      const { id } = await newEndpoint('createEndpoint');
      const path = { id: String(id) };
      await callAsAdmin('updateEndpoint', { path, body: { disabled: true } });
      expectError(await call({ path }), 403, { field: 'id' });
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
