import { expect, test } from 'vitest';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

const model = 'voxa-v1';

describeOperation('openInferenceSocket', {
  invalid: {
    'an empty model': { query: { model: '' }, field: 'model' },
    'a model name of 201 characters': { query: { model: 'm'.repeat(201) }, field: 'model', limit: 200 },
  },
  gatewayTests: (call, open) => {
    test('426 without an upgrade', async () => {
      const response = await call({ query: { model } });
      expectError(response, 426, { code: 'upgrade_required' });
      expect(response.headers.get('upgrade')).toBe('websocket');
    });
    test.each([model, 'voxa-v3-flash', 'alpha-audio-3.0-tts-flash'])('101 for a key and %s', async (one) => {
      expect((await open({ query: { model: one } })).status).toBe(101);
    });
    test('401 without a key', async () => {
      expectError(await open({ headers: { authorization: undefined } }), 401, { code: 'invalid_api_key' });
    });
    test('401 with a revoked key', async () => {
      expectError(await open({ query: { model }, as: 'revoked' }), 401, { code: 'invalid_api_key' });
    });
    test('400 an empty model', async () => {
      expectError(await open({ query: { model: '' } }), 400, { code: 'invalid_request', field: 'model' });
    });
    test('400 a realtime model', async () => {
      const response = await open({ query: { model: 'alpha3-tts-flash-realtime' } });
      expectError(response, 400, {
        code: 'invalid_request',
        field: 'model',
        includes: ['/api-ws/v1/realtime'],
      });
    });
    test('404 an unknown model', async () => {
      expectError(await open({ query: { model: 'voxa-v99' } }), 404, {
        code: 'model_not_found',
        field: 'model',
      });
    });
    test('403 for a model that the key may not use', async () => {
      expectError(await open({ query: { model }, as: 'noModels' }), 403, { code: 'access_denied' });
    });
  },
});
