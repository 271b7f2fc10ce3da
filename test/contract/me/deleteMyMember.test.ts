import { describeOperation } from '../../support/contract.ts';
import { scopeOfOwner, testDeleteMember } from '../../support/member-tests.ts';

describeOperation('deleteMyMember', {
  gatewayTests(call) {
    testDeleteMember(call, scopeOfOwner);
  },
});
