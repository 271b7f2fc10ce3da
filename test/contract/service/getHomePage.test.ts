import { expect, test } from 'vitest';
import { describeOperation } from '../../support/contract.ts';

describeOperation('getHomePage', {
  gatewayTests: (call) => {
    test('200 a page that leads to the documentation, without a key', async () => {
      const answer = await call({ headers: { authorization: undefined } });
      expect(answer.status).toBe(200);
      expect(answer.body.toString()).toContain('href="docs/index.html"');
    });
  },
});
