import { describeOperation } from '../../support/contract.ts';
import { testKeyWithLimits, testResend } from '../../support/endpoint-tests.ts';

describeOperation('resendEndpointDelivery', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine', delivery_id: '1' }, field: 'id' },
    'delivery id 0': { path: { id: '1', delivery_id: '0' }, field: 'delivery_id', limit: 1 },
  },
  gatewayTests(call) {
    testResend(call, 'user');
    testKeyWithLimits(call, { path: { id: '1', delivery_id: '1' } });
  },
});
