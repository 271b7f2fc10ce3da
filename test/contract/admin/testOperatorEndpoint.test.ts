import { describeOperation } from '../../support/contract.ts';
import { invalidEndpointId, testTestEvent, testUnknownEndpoint } from '../../support/endpoint-tests.ts';

describeOperation('testOperatorEndpoint', {
  invalid: invalidEndpointId,
  gatewayTests(call) {
    testTestEvent(call, 'operator');
    testUnknownEndpoint(call, 'operator');
  },
});
