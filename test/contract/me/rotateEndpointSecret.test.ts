import { describeOperation } from '../../support/contract.ts';
import {
  invalidEndpointId,
  invalidOverlap,
  testKeyWithLimits,
  testRotate,
  testUnknownEndpoint,
} from '../../support/endpoint-tests.ts';

describeOperation('rotateEndpointSecret', {
  invalid: { ...invalidEndpointId, ...invalidOverlap },
  gatewayTests(call) {
    testRotate(call, 'user');
    testUnknownEndpoint(call, 'user');
    testKeyWithLimits(call);
  },
});
