import { describeOperation } from '../../support/contract.ts';
import { testList } from '../../support/endpoint-tests.ts';

describeOperation('listOperatorEndpoints', {
  gatewayTests(call) {
    testList(call, 'operator');
  },
});
