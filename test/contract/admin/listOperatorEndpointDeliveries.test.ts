import { describeOperation } from '../../support/contract.ts';
import { invalidEndpointId, testListDeliveries, testUnknownEndpoint } from '../../support/endpoint-tests.ts';

describeOperation('listOperatorEndpointDeliveries', {
  invalid: {
    ...invalidEndpointId,
    'page 0': { query: { p: 0 }, field: 'p', limit: 1 },
    'a page size of 1001': { query: { page_size: 1001 }, field: 'page_size', limit: 1000 },
  },
  gatewayTests(call) {
    testListDeliveries(call, 'operator');
    testUnknownEndpoint(call, 'operator');
  },
});
