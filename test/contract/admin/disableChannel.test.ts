import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('disableChannel', {
  invalid: {
    'a name with a space': { path: { name: 'a b' }, field: 'name' },
    'no reason': { body: {}, field: 'reason' },
    'an empty reason': { body: { reason: '' }, field: 'reason' },
    'a reason of 501 characters': { body: { reason: 'a'.repeat(501) }, field: 'reason', limit: 500 },
  },
  gatewayTests(call) {
    test('disables a channel and stores the last reason', async () => {
      for (const reason of ['first', 'Ümzug, 2. Teil']) {
        const response = await call({ path: { name: 'native-eu' }, body: { reason } });
        expect(response.status, response.body.toString()).toBe(200);
        expect(jsonOf(response)).toMatchObject({
          data: { name: 'native-eu', state: 'disabled', disabled: { reason, user_id: 1, user_name: 'root' } },
        });
      }
    });

    test('404 for an unknown channel', async () => {
      const response = await call({ path: { name: 'nowhere' }, body: { reason: 'None' } });
      expectError(response, 404, { code: 'resource_not_found', field: 'name', includes: ['nowhere'] });
    });
  },
});
