import { describeOperation } from '../../support/contract.ts';
import { testKeyWithLimits, testList } from '../../support/endpoint-tests.ts';

describeOperation('listEndpoints', {
  gatewayTests(call) {
    testList(call, 'user');
    testKeyWithLimits(call, {});
  },
});
