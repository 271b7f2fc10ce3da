import { expect, test } from 'vitest';
import { describeOperation } from '../../support/contract.ts';

describeOperation('getDocs', {
  gatewayTests: (call) => {
    test('200 the first page, without a key', async () => {
      const answer = await call({ headers: { authorization: undefined } });
      expect(answer.status).toBe(200);
      expect(answer.body.toString()).toContain('href="/docs/reference.html"');
    });
  },
});
