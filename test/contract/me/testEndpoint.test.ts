import { describeOperation } from '../../support/contract.ts';
import {
  invalidEndpointId,
  testKeyWithLimits,
  testTestEvent,
  testUnknownEndpoint,
} from '../../support/endpoint-tests.ts';

describeOperation('testEndpoint', {
  invalid: invalidEndpointId,
  gatewayTests(call) {
    testTestEvent(call, 'user');
    testUnknownEndpoint(call, 'user');
    testKeyWithLimits(call);
  },
});
