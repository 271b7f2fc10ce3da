import { expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

describeOperation('getModel', {
  gatewayTests: (call) => {
    const found = async (model: string) => jsonOf(await call({ path: { model } }));
    test('200 a speech model with its voices', async () => {
      expect(await found('voxa-v2')).toMatchObject({
        id: 'voxa-v2',
        object: 'model',
        type: 'model',
        owned_by: 'voxa',
        unit: 'characters',
        unit_price: 1,
        group_ratio: 1,
        voices: expect.arrayContaining([expect.objectContaining({ id: 'voxanna' })]),
      });
    });
    test('200 a model with a slash in its id, and one without voices', async () => {
      expect(await found('beta/speech-2.8-hd')).toMatchObject({ id: 'beta/speech-2.8-hd' });
      expect(await found('iota-chat-1')).toMatchObject({ protocols: ['messages'], unit: 'tokens' });
      expect(await found('iota-chat-1')).not.toHaveProperty('voices');
    });
    test('404 an unknown model and one that the key may not use', async () => {
      const unknown = await call({ path: { model: 'voxa-v99' } });
      expectError(unknown, 404, { code: 'model_not_found', field: 'model', includes: ['voxa-v99'] });
      const closed = await call({ path: { model: 'voxa-v2' }, as: 'noModels' });
      expectError(closed, 404, { code: 'model_not_found', field: 'model' });
    });
  },
});
