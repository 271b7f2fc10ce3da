import { expect } from 'vitest';
import { listChangesOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { invalidEndpointFields, testCreate } from '../../support/endpoint-tests.ts';

describeOperation('createOperatorEndpoint', {
  invalid: { 'without a URL': { change: { url: undefined }, field: 'url' }, ...invalidEndpointFields },
  gatewayTests(call) {
    testCreate(call, 'operator', async ({ id, events }) => {
      expect(await listChangesOf(`endpoint ${id}`)).toMatchObject([
        { action: 'createOperatorEndpoint', details: { host: 'app.example', events } },
      ]);
    });
  },
});
