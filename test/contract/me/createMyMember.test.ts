import { describeOperation } from '../../support/contract.ts';
import {
  invalidMemberFields,
  scopeOfOwner,
  testCreateMember,
  testMembersWithLimits,
} from '../../support/member-tests.ts';

describeOperation('createMyMember', {
  invalid: { ...invalidMemberFields, 'no role': { body: { name: 'Ada' }, field: 'role' } },
  gatewayTests(call) {
    testCreateMember(call, scopeOfOwner);
    testMembersWithLimits(call, { body: { name: 'Ada', role: 'owner' } });
  },
});
