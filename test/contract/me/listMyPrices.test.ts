import { expect, inject, test } from 'vitest';
import type { operations } from '../../../generated/http.ts';
import { dataOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import { newToken, newUser } from '../../support/operator.ts';

type Prices = operations['listMyPrices']['responses'][200]['content']['application/json']['data'];

describeOperation('listMyPrices', {
  gatewayTests(call) {
    test('returns the price of each model that the key may use', async () => {
      const target = inject('gateway');
      const user = await newUser(target);
      const { key } = await newToken(target, user.id, {
        remain_quota: 1,
        model_limits: 'alpha3-tts-flash,gamma3.0-video',
      });
      const prices = dataOf<Prices>(await call({ headers: { authorization: `Bearer ${key}` } }));
      expect(prices).toEqual({
        group: { name: 'default', ratio: 1 },
        items: [
          { model: 'alpha3-tts-flash', unit: 'characters', unit_price: 1, price: 1 },
          {
            model: 'gamma3.0-video',
            unit: 'seconds',
            unit_price: expect.any(Number),
            price: expect.any(Number),
          },
        ],
      });
      const [, video] = prices.items;
      expect(video?.price).toBe(video?.unit_price);
    });
  },
});
