import { describeOperation } from '../../support/contract.ts';
import {
  invalidEndpointId,
  testGet,
  testKeyWithLimits,
  testUnknownEndpoint,
} from '../../support/endpoint-tests.ts';

describeOperation('getEndpoint', {
  invalid: invalidEndpointId,
  gatewayTests(call) {
    testGet(call, 'user');
    testUnknownEndpoint(call, 'user');
    testKeyWithLimits(call);
  },
});
