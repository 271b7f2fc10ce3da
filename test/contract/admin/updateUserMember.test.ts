import { describeOperation } from '../../support/contract.ts';
import { invalidMemberFields, scopeOfOperator, testUpdateMember } from '../../support/member-tests.ts';

describeOperation('updateUserMember', {
  invalid: invalidMemberFields,
  gatewayTests(call) {
    testUpdateMember(call, scopeOfOperator);
  },
});
