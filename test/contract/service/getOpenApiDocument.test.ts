import { expect, test } from 'vitest';
import { bundle } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';

describeOperation('getOpenApiDocument', {
  gatewayTests: (call) => {
    test('200 the bundle with its own servers, without a key', async () => {
      const response = await call({ headers: { authorization: undefined } });
      expect(response.status).toBe(200);
      expect(jsonOf(response)).toEqual({ ...bundle, servers: expect.anything() });
    });
  },
});
