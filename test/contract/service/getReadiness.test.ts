import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';

describeOperation('getReadiness', {
  gatewayTests: (call) => {
    test('200 without a key', async () => {
      const response = await call({ headers: { authorization: undefined } });
      expect([response.status, jsonOf(response)]).toEqual([200, { status: 'ok' }]);
    });
  },
});
