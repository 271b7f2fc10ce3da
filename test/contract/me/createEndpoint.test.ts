import { test } from 'vitest';
import { describeOperation } from '../../support/contract.ts';
import { invalidEndpointFields, testCreate, testKeyWithLimits } from '../../support/endpoint-tests.ts';
import { endpointFields } from '../../support/endpoints.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('createEndpoint', {
  invalid: { 'without a URL': { change: { url: undefined }, field: 'url' }, ...invalidEndpointFields },
  gatewayTests(call) {
    testCreate(call, 'user');
    testKeyWithLimits(call, { body: endpointFields });

    test('400 for an event of the operator', async () => {
      const response = await call({ body: { ...endpointFields, events: ['channel.unhealthy'] } });
      expectError(response, 400, { field: 'events.0' });
    });
  },
});
