import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('enableChannel', {
  invalid: { 'a name with a space': { path: { name: 'a b' }, field: 'name' } },
  gatewayTests(call) {
    test('enables a channel, disabled or not', async () => {
      const response = await call({ path: { name: 'sandbox-eta' } });
      expect(response.status, response.body.toString()).toBe(200);
      expect(jsonOf(response)).toMatchObject({
        data: { name: 'sandbox-eta', state: 'healthy', disabled: null, resting_until: null },
      });
    });

    test('404 for an unknown channel', async () => {
      const response = await call({ path: { name: 'nowhere' } });
      expectError(response, 404, { code: 'resource_not_found', field: 'name', includes: ['nowhere'] });
    });
  },
});
