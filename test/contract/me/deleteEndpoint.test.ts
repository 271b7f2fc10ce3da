import { describeOperation } from '../../support/contract.ts';
import {
  invalidEndpointId,
  testDelete,
  testKeyWithLimits,
  testUnknownEndpoint,
} from '../../support/endpoint-tests.ts';

describeOperation('deleteEndpoint', {
  invalid: invalidEndpointId,
  gatewayTests(call) {
    testDelete(call, 'user');
    testUnknownEndpoint(call, 'user');
    testKeyWithLimits(call);
  },
});
