import { describeOperation } from '../../support/contract.ts';
import { invalidEndpointId, testGet, testUnknownEndpoint } from '../../support/endpoint-tests.ts';

describeOperation('getOperatorEndpoint', {
  invalid: invalidEndpointId,
  gatewayTests(call) {
    testGet(call, 'operator');
    testUnknownEndpoint(call, 'operator');
  },
});
