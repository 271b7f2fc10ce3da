import { afterEach, describe, expect, test } from 'vitest';
import type { Json } from '../../../openapi/tools/document.ts';
import { type HttpResponse, jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

interface Reply {
  object: string;
  data: { object: string; index: number; embedding: number[] | string }[];
  model: string;
  usage: object;
}

const model = 'theta-embedding-1';
const about = (input: Json) => ({ model, input });

describeOperation('createEmbedding', {
  invalid: {
    'without a model': { change: { model: undefined }, field: 'model' },
    'without an input': { change: { input: undefined }, field: 'input' },
    'an input that is a number': { change: { input: 7 }, field: 'input' },
    'an empty list of texts': { change: { input: [] }, field: 'input' },
    'an empty text in a list': { change: { input: ['Hello.', ''] }, field: 'input.1', limit: 1 },
    'an encoding that does not exist': { change: { encoding_format: 'int8' }, field: 'encoding_format' },
    'no dimensions': { change: { dimensions: 0 }, field: 'dimensions', limit: 1 },
  },
  gatewayTests: (call) => {
    const vectors = (response: HttpResponse) =>
      (jsonOf(response) as Reply).data.map(({ embedding }) => embedding);
    const numbers = async (input: Json) => vectors(await call({ body: about(input) })) as number[][];
    const similarity = (left: number[] = [], right: number[] = []) =>
      left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);

    test('200 a vector of length 1, with the five counters', async () => {
      const response = await call({ body: about('Good morning from one key.') });
      const reply = jsonOf(response) as Reply;
      expect(reply).toEqual({
        object: 'list',
        data: [{ object: 'embedding', index: 0, embedding: expect.any(Array) }],
        model,
        usage: {
          prompt_tokens: 7,
          completion_tokens: 0,
          total_tokens: 7,
          input_tokens: 7,
          output_tokens: 0,
        },
      });
      const [vector] = vectors(response) as number[][];
      expect(similarity(vector, vector)).toBeCloseTo(1, 5);
    });
    test('200 the same vector for the same text, and similar ones for texts with common words', async () => {
      const [boat, again, ship, tax] = await numbers([
        'A paper boat sails down the street.',
        'A paper boat sails down the street.',
        'The boat sails on.',
        'Quarterly tax returns.',
      ]);
      expect(again).toEqual(boat);
      expect(similarity(boat, ship)).toBeGreaterThan(similarity(boat, tax) + 0.2);
    });
    test('200 Base64 with the requested dimensions', async () => {
      const body = { ...about(['Good morning.', 'Good night.']), dimensions: 8 };
      const plain = vectors(await call({ body })) as number[][];
      const base64 = vectors(await call({ body: { ...body, encoding_format: 'base64' } })) as string[];
      const decoded = base64.map((text) => {
        const bytes = Buffer.from(text, 'base64');
        return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
      });
      expect(decoded).toEqual(plain);
      expect(plain.map((vector) => vector.length)).toEqual([8, 8]);
    });
    test('200 token ids, as one text and as several', async () => {
      const one = jsonOf(await call({ body: about([791, 3363]) })) as Reply;
      expect([one.data.length, one.usage]).toEqual([1, expect.objectContaining({ input_tokens: 2 })]);
      const two = jsonOf(await call({ body: about([[791, 3363], [791]]) })) as Reply;
      expect(two.data.map(({ index }) => index)).toEqual([0, 1]);
      expect(two.data[0]?.embedding).toEqual(one.data[0]?.embedding);
    });
    test('200 vectors that exceed the buffer', async () => {
      const input = Array.from({ length: 400 }, (_, index) => `Text number ${index}.`);
      const response = await call({ body: { ...about(input), dimensions: 2048 } });
      expect(response.body.length).toBeGreaterThan(1024 * 1024);
      expect((jsonOf(response) as Reply).data.map(({ index }) => index)).toEqual(
        input.map((_, index) => index),
      );
    });

    test('400 a chat model, and more dimensions than the provider supports', async () => {
      const chat = await call({ body: { ...about('Hi.'), model: 'iota-chat-1' } });
      expectError(chat, 400, { code: 'invalid_request', field: 'model', includes: ['POST /v1/messages'] });
      const tooManyDimensions = await call({ body: { ...about('Hi.'), dimensions: 2049 } });
      expectError(tooManyDimensions, 400, { code: 'bad_request', includes: ['dimensions', '2048'] });
    });
    test('404 an unknown model', async () => {
      const response = await call({ body: { ...about('Hi.'), model: 'theta-embedding-9' } });
      expectError(response, 404, {
        code: 'model_not_found',
        field: 'model',
        includes: ['theta-embedding-9'],
      });
    });
    test('403 for a key without quota or without access to the model', async () => {
      const quota = { code: 'insufficient_user_quota', includes: [model] };
      expectError(await call({ body: about('Hi.'), as: 'noQuota' }), 403, quota);
      const closed = { code: 'access_denied', field: 'model' };
      expectError(await call({ body: about('Hi.'), as: 'noModels' }), 403, closed);
    });

    describe('if the provider fails', () => {
      // Three consecutive failures would disable the channel, so a success comes in between.
      afterEach(async () => {
        expect((await call({ body: about('Hi.') })).status).toBe(200);
      });

      test('400 a rejection with its code', async () => {
        expectError(await call({ body: about('[[reject]]') }), 400, { code: 'DataInspectionFailed' });
      });
      test('429 throttled', async () => {
        expectError(await call({ body: about('[[throttle]]') }), 429, { code: 'rate_limit_exceeded' });
      });
      test.each(['unauthorized', 'denied', 'error', 'malformed', 'drop'])('502 %s', async (trigger) => {
        expectError(await call({ body: about([`[[${trigger}]]`, 'Hi.']) }), 502);
      });
      test('503 unavailable', async () => {
        expectError(await call({ body: about('[[unavailable]]') }), 503, { code: 'get_channel_failed' });
      });
    });
  },
});
