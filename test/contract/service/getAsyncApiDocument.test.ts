import { expect, test } from 'vitest';
import { eventBundle } from '../../conformance/contract/schemas.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';

describeOperation('getAsyncApiDocument', {
  gatewayTests: (call) => {
    test('200 the bundle with its own servers, without a key', async () => {
      const response = await call({ headers: { authorization: undefined } });
      expect(response.status).toBe(200);
      expect(jsonOf(response)).toEqual({ ...eventBundle, servers: expect.anything() });
    });
  },
});
