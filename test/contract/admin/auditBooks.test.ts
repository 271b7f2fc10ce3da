import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';

describeOperation('auditBooks', {
  gatewayTests(call) {
    test('200 sums that balance', async () => {
      const response = await call();
      expect(response.status).toBe(200);
      const { data } = jsonOf(response) as { data: Record<string, number> };
      expect(data).toMatchObject({ problems: [], more: false });
      const { granted = 0, held = 0, leased = 0, spent = 0, refunded = 0, left } = data;
      expect(left).toBe(granted - held - leased - spent + refunded);
      expect(data.keys).toBeGreaterThan(0);
    });
  },
});
