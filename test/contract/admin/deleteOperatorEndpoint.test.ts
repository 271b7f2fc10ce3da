import { describeOperation } from '../../support/contract.ts';
import { invalidEndpointId, testDelete, testUnknownEndpoint } from '../../support/endpoint-tests.ts';

describeOperation('deleteOperatorEndpoint', {
  invalid: invalidEndpointId,
  gatewayTests(call) {
    testDelete(call, 'operator');
    testUnknownEndpoint(call, 'operator');
  },
});
