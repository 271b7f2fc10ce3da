import { describeOperation } from '../../support/contract.ts';
import { invalidMemberFields, scopeOfOwner, testUpdateMember } from '../../support/member-tests.ts';

describeOperation('updateMyMember', {
  invalid: invalidMemberFields,
  gatewayTests(call) {
    testUpdateMember(call, scopeOfOwner);
  },
});
