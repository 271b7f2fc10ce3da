import { describeOperation } from '../../support/contract.ts';
import {
  invalidEndpointFields,
  testKeyWithLimits,
  testUnknownEndpoint,
  testUpdate,
} from '../../support/endpoint-tests.ts';

describeOperation('updateEndpoint', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
    'no change': { body: {}, field: 'body', limit: 1 },
    'a string for disabled': { body: { disabled: 'yes' }, field: 'disabled' },
    ...invalidEndpointFields,
  },
  gatewayTests(call) {
    testUpdate(call, 'user');
    testUnknownEndpoint(call, 'user', { body: { disabled: true } });
    testKeyWithLimits(call, { path: { id: '1' }, body: { disabled: true } });
  },
});
