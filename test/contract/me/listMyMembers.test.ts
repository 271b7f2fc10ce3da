import { describeOperation } from '../../support/contract.ts';
import { scopeOfOwner, testListMembers, testMembersWithLimits } from '../../support/member-tests.ts';

describeOperation('listMyMembers', {
  gatewayTests(call) {
    testListMembers(call, scopeOfOwner);
    testMembersWithLimits(call);
  },
});
