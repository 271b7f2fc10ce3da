import { describeOperation } from '../../support/contract.ts';
import { scopeOfOperator, testDeleteMember } from '../../support/member-tests.ts';

describeOperation('deleteUserMember', {
  gatewayTests(call) {
    testDeleteMember(call, scopeOfOperator);
  },
});
