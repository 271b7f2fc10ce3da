import { expect, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { type CreatedEndpoint, newEndpoint } from '../../support/endpoints.ts';
import { expectError } from '../../support/expectations.ts';

const query = (overlap_seconds: number) => ({ query: { overlap_seconds }, field: 'overlap_seconds' });

describeOperation('rotateEndpointSecret', {
  invalid: {
    'an id that is not a number': { path: { id: 'mine' }, field: 'id' },
    'id 0': { path: { id: '0' }, field: 'id', limit: 1 },
    'an overlap of more than a week': { ...query(604_801), limit: 604_800 },
    'an overlap below 0': { ...query(-1), limit: 0 },
  },
  gatewayTests(call) {
    test('replaces the secret with an overlap of a day, or without one', async () => {
      const created = await newEndpoint('createEndpoint');
      const path = { id: String(created.id) };
      const rotated = dataOf<CreatedEndpoint>(await call({ path }));
      expect(rotated.secret).toMatch(/^whsec_/);
      expect(rotated.secret).not.toBe(created.secret);
      const expiry = rotated.old_secret_expires_at ?? 0;
      expect(Math.abs(expiry - Date.now() / 1000 - 86_400)).toBeLessThan(60);
      const last = dataOf<CreatedEndpoint>(await call({ path, query: { overlap_seconds: 0 } }));
      expect(last).toMatchObject({ old_secret_expires_at: null });
    });

    test('404 for an unknown endpoint, and for one of the operator', async () => {
      const other = await newEndpoint('createOperatorEndpoint');
      for (const id of [other.id, Number.MAX_SAFE_INTEGER])
        expectError(await call({ path: { id: String(id) } }), 404, { field: 'id' });
    });
    test('403 for a key with limits', async () => {
      expectError(await call({ path: { id: '1' }, as: 'noQuota' }), 403, { includes: ['limits'] });
    });
  },
});
