import { expect, test } from 'vitest';
import { describeOperation } from '../../support/contract.ts';

describeOperation('getHomePage', {
  gatewayTests: (call) => {
    test('200 a page with a link to the documentation, without a key', async () => {
      const response = await call({ headers: { authorization: undefined } });
      expect(response.status).toBe(200);
      expect(response.body.toString()).toContain('href="/docs/"');
    });
  },
});
