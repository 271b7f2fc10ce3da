import { describeOperation } from '../../support/contract.ts';
import { invalidMemberFields, scopeOfOperator, testCreateMember } from '../../support/member-tests.ts';

describeOperation('createUserMember', {
  invalid: { ...invalidMemberFields, 'no role': { body: { name: 'Ada' }, field: 'role' } },
  gatewayTests(call) {
    testCreateMember(call, scopeOfOperator);
  },
});
