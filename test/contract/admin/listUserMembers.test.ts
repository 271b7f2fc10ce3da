import { describeOperation } from '../../support/contract.ts';
import { scopeOfOperator, testListMembers } from '../../support/member-tests.ts';

describeOperation('listUserMembers', {
  gatewayTests(call) {
    testListMembers(call, scopeOfOperator);
  },
});
