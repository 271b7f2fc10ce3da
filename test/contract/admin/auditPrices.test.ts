import { expect, test } from 'vitest';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';

describeOperation('auditPrices', {
  gatewayTests(call) {
    test('lists the models of a channel that has no costs', async () => {
      const data = dataOf<{ revision: string; problems: { problem: string }[] }>(await call());
      expect(data).toEqual({
        revision: expect.stringMatching(/^[0-9a-f]{12}$/),
        problems: [
          {
            kind: 'missing_cost',
            setting: 'channels.0',
            problem: expect.stringMatching(/^the channel .+ has no cost for .+\.$/),
          },
        ],
      });
    });
  },
});
