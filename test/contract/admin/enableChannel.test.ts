import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('enableChannel', {
  invalid: { 'a name with a blank': { path: { name: 'a b' }, field: 'name' } },
  gatewayTests(call) {
    test('enables a channel, whether it was disabled or not', async () => {
      const answer = await call({ path: { name: 'sandbox-eta' } });
      expect(answer.status, answer.body.toString()).toBe(200);
      expect(jsonOf(answer)).toMatchObject({
        data: { name: 'sandbox-eta', state: 'healthy', disabled: null, resting_until: null },
      });
    });

    test('404 for a name that no channel has', async () => {
      const answer = await call({ path: { name: 'nowhere' } });
      expectError(answer, 404, { code: 'resource_not_found', field: 'name', includes: ['nowhere'] });
    });
  },
});
