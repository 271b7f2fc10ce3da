import { afterEach, describe, expect, test } from 'vitest';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

const about = (content: string) => ({ model: 'iota-chat-1', messages: [{ role: 'user', content }] });

describeOperation('countMessageTokens', {
  invalid: {
    'without a version': { headers: { 'compat-version': undefined }, field: 'compat-version' },
    'without a model': { change: { model: undefined }, field: 'model' },
    'without messages': { change: { messages: undefined }, field: 'messages' },
    'messages that are a string': { change: { messages: 'When is low tide?' }, field: 'messages' },
  },
  gatewayTests: (call) => {
    const counted = async (body: object) =>
      (jsonOf(await call({ body: { ...body } })) as { input_tokens: number }).input_tokens;

    test('200 more tokens for more text, including system and tools', async () => {
      const body = about('When is low tide?');
      const tokens = await counted(body);
      expect(tokens).toBeGreaterThan(3);
      expect(await counted(about('When is low tide in the harbour?'))).toBeGreaterThan(tokens);
      expect(await counted({ ...body, system: 'Answer in one sentence.' })).toBeGreaterThan(tokens);
      const tools = [{ name: 'get_tide', input_schema: { type: 'object' } }];
      expect(await counted({ ...body, tools })).toBeGreaterThan(tokens);
    });
    test('200 for a key without quota, because it is free', async () => {
      expect((await call({ as: 'noQuota' })).status).toBe(200);
    });
    test('400 an embedding model', async () => {
      const response = await call({ body: { ...about('Hi.'), model: 'theta-embedding-1' } });
      expectError(response, 400, {
        code: 'invalid_request',
        field: 'model',
        includes: ['POST /v1/embeddings'],
      });
    });
    test('404 an unknown model, 403 a model that the key may not use', async () => {
      const unknown = await call({ body: { ...about('Hi.'), model: 'iota-chat-9' } });
      expectError(unknown, 404, { code: 'model_not_found', field: 'model' });
      const closed = await call({ body: about('Hi.'), as: 'noModels' });
      expectError(closed, 403, { code: 'access_denied', field: 'model' });
    });

    describe('if the provider fails', () => {
      // Three consecutive failures would disable the channel, so a success comes in between.
      afterEach(async () => {
        expect((await call()).status).toBe(200);
      });

      test.each([
        ['reject', 400, 'bad_request'],
        ['throttle', 429, 'rate_limit_exceeded'],
        ['unauthorized', 502, 'bad_response_status_code'],
        ['error', 502, 'bad_response_status_code'],
        ['unavailable', 503, 'get_channel_failed'],
      ])('%s: %i', async (trigger, status, code) => {
        expectError(await call({ body: about(`[[${trigger}]]`) }), status, { code });
      });
    });
  },
});
