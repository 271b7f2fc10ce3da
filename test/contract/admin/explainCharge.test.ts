import { expect, inject, test } from 'vitest';
import { documented } from '../../conformance/contract/documented.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { exchange } from '../../support/exchange.ts';
import { expectError } from '../../support/expectations.ts';
import { callAdmin, newToken } from '../../support/operator.ts';

describeOperation('explainCharge', {
  invalid: {
    'an id of 129 characters': { path: { id: 'r'.repeat(129) }, field: 'id', limit: 128 },
  },
  gatewayTests(call) {
    const target = inject('gateway');

    test('explains a call before and after its refund', async () => {
      const token = await newToken(target, 1, { remain_quota: 100 });
      const body = { model: 'alpha3-tts-flash', voice: 'Aria', input: 'Nine char' };
      const speech = await exchange({ ...target, key: token.key }, documented('createSpeech'), { body });
      const id = speech.headers.get('x-request-id') ?? '';
      const response = await call({ path: { id } });
      const calculation = '9 characters x 1 x 1 = 9';
      expect(jsonOf(response)).toMatchObject({
        data: {
          entry: {
            request_id: id,
            model_name: 'alpha3-tts-flash',
            unit_price: 1,
            price_rule: null,
            cost: null,
            group_ratio: 1,
            group_name: 'default',
            config_revision: expect.stringMatching(/^[0-9a-f]{12}$/),
          },
          unlimited: false,
          calculated: 9,
          refund: null,
          net: 9,
          explanation: [calculation, expect.stringMatching(/^reserved \d+$/), 'charged 9'],
        },
      });
      await callAdmin(target, 'refundCall', { path: { id }, body: { amount: 2, reason: 'noise' } });
      expect(jsonOf(await call({ path: { id } }))).toMatchObject({
        data: {
          entry: { quota: 9, refunded: 2 },
          refund: { amount: 2, reason: 'noise', user_id: 1 },
          net: 7,
          explanation: [calculation, expect.anything(), 'charged 9', 'refunded 2: noise', 'net 9 - 2 = 7'],
        },
      });
    });

    test('404 for an unknown call', async () => {
      expectError(await call({ path: { id: 'req_none' } }), 404, { field: 'id' });
    });
  },
});
