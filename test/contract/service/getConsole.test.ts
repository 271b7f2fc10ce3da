import { expect, test } from 'vitest';
import { describeOperation } from '../../support/contract.ts';

describeOperation('getConsole', {
  gatewayTests: (call) => {
    test('200 the page without a key, with a policy that allows scripts of this gateway only', async () => {
      const response = await call({ headers: { authorization: undefined } });
      expect(response.status).toBe(200);
      expect(response.body.toString()).toMatch(/src="\/console\/assets\/index-[\w-]+\.js"/);
      expect(response.headers.get('content-security-policy')).toBe(
        "default-src 'self'; img-src 'self' data: blob: https:; media-src 'self' data: blob: https:; " +
          "connect-src 'self' data: blob:; worker-src 'self' blob:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
      );
    });
  },
});
