import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';

describeOperation('releaseGateway', {
  gatewayTests(call) {
    test('200 on a gateway that is not in maintenance mode', async () => {
      const response = await call();
      expect(response.status).toBe(200);
      expect(jsonOf(response)).toMatchObject({ data: { released: false } });
    });
  },
});
