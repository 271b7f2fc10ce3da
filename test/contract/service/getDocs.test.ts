import { expect, test } from 'vitest';
import { describeOperation } from '../../support/contract.ts';

describeOperation('getDocs', {
  gatewayTests: (call) => {
    test('200 the overview, without a key', async () => {
      const response = await call({ headers: { authorization: undefined } });
      expect(response.status).toBe(200);
      expect(response.body.toString()).toContain('href="/docs/quick-start"');
    });
  },
});
