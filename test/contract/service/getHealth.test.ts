import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';

describeOperation('getHealth', {
  gatewayTests: (call) => {
    test('200 without a key', async () => {
      const answer = await call({ headers: { authorization: undefined } });
      expect([answer.status, jsonOf(answer)]).toEqual([200, { status: 'ok' }]);
    });
  },
});
