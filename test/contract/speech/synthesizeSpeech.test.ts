import { afterEach, describe, expect, test } from 'vitest';
import { parseEvents } from '../../conformance/wire/event-stream.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { hasSignature } from '../../conformance/wire/media-signatures.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError, expectProviderError } from '../../support/expectations.ts';

const speechBody = (input: object = {}, model = 'voxa-v3-flash') => ({
  model,
  input: { text: 'Good morning.', voice: 'voxanna', ...input },
});
const events = { 'X-Native-SSE': 'enable' };

interface Spoken {
  output: { finish_reason: string; audio: { url: string; data: string } };
  usage: Record<string, number>;
}

describeOperation('synthesizeSpeech', {
  invalid: {
    'without a model': { change: { model: undefined }, field: 'model' },
    'without an input': { change: { input: undefined }, field: 'input' },
    'without a text': { change: { input: { text: undefined } }, field: 'input.text' },
    'a text of 20001 characters': {
      change: { input: { text: 'a'.repeat(20_001) } },
      field: 'input.text',
      limit: 20_000,
    },
    'a voice that is a number': { change: { input: { voice: 7 } }, field: 'input.voice' },
    'a format that does not exist': {
      change: { input: { format: 'flac' } },
      field: 'input.format',
      limit: 'opus',
    },
    'a sample rate that does not exist': {
      change: { input: { sample_rate: 11_025 } },
      field: 'input.sample_rate',
      limit: 22_050,
    },
    'a volume of 101': { change: { input: { volume: 101 } }, field: 'input.volume', limit: 100 },
    'a rate of 2.1': { change: { input: { rate: 2.1 } }, field: 'input.rate', limit: 2 },
    'a pitch of 0': { change: { input: { pitch: 0 } }, field: 'input.pitch', limit: 0.5 },
    'an event switch that does not exist': {
      headers: { 'X-Native-SSE': 'yes' },
      field: 'x-native-sse',
      limit: 'enable',
    },
  },
  gatewayTests: (call) => {
    test.each([
      ['mp3', 'audio/mpeg'],
      ['wav', 'audio/wav'],
      ['pcm', 'audio/pcm'],
      ['opus', 'audio/ogg'],
    ])('200 a signed URL of %s', async (format, type) => {
      const response = await call({ body: speechBody({ format }) });
      expect(response.status).toBe(200);
      const { output, usage } = jsonOf(response) as Spoken;
      expect([output.finish_reason, output.audio.data, usage.characters]).toEqual(['stop', '', 13]);
      const file = await fetch(output.audio.url);
      expect(file.status).toBe(200);
      expect(hasSignature(type, Buffer.from(await file.arrayBuffer()))).toBe(true);
    });
    test('200 tokens for a model that is metered in tokens', async () => {
      const response = await call({ body: speechBody({ voice: 'ember' }, 'alpha-audio-3.1-tts-flash') });
      expect((jsonOf(response) as Spoken).usage).toMatchObject({
        input_tokens: expect.any(Number),
        output_tokens: expect.any(Number),
      });
    });
    test('200 native events', async () => {
      const response = await call({ body: speechBody({ word_timestamp_enabled: true }), headers: events });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      const seen = parseEvents(response.body.toString('utf8'), 'native');
      const kinds = seen.map(({ data }) => (data as { output: { type?: string } }).output.type);
      expect(kinds[0]).toBe('sentence-begin');
      expect(kinds).toContain('sentence-synthesis');
      expect(kinds).toContain('sentence-end');
      expect(seen.at(-1)?.data).toMatchObject({
        output: { finish_reason: 'stop' },
        usage: { characters: 13 },
      });
    });

    const refused: [string, object, string, string][] = [
      ['a text of spaces', speechBody({ text: ' ' }), 'input.text', 'nothing'],
      ['an unknown voice', speechBody({ voice: 'nobody' }), 'input.voice', 'voxanna'],
      ['a model without this route', speechBody({}, 'voxa-v1'), 'model', 'inference'],
      ['a multimodal model', speechBody({ voice: 'Aria' }, 'alpha3-tts-flash'), 'model', 'multimodal'],
      ['a realtime model', speechBody({ voice: 'Aria' }, 'alpha3-tts-flash-realtime'), 'model', 'realtime'],
    ];
    test.each(refused)('400 %s', async (_, body, field, includes) => {
      expectError(await call({ body: { ...body } }), 400, {
        code: 'invalid_request',
        field,
        includes: [includes],
      });
    });
    test('404 an unknown model', async () => {
      expectError(await call({ body: speechBody({}, 'voxa-v99') }), 404, {
        code: 'model_not_found',
        field: 'model',
      });
    });
    test('403 for a model that the key may not use', async () => {
      expectError(await call({ body: speechBody(), as: 'noModels' }), 403, {
        code: 'access_denied',
        field: 'model',
      });
    });
    test('403 for a key without quota', async () => {
      expectError(await call({ body: speechBody(), as: 'noQuota' }), 403, {
        code: 'insufficient_user_quota',
      });
    });

    describe('if the provider fails', () => {
      // Three consecutive failures would disable the channel, so a success comes in between.
      afterEach(async () => {
        expect((await call({ body: speechBody() })).status).toBe(200);
      });

      test.each([
        ['', {}],
        [' of events', { headers: events }],
      ])('400 a rejection%s, unchanged', async (_, more) => {
        const response = await call({ body: speechBody({ text: '[[reject]]' }), ...more });
        expectProviderError(response, 400, 'DataInspectionFailed');
      });
      test('429 throttled, unchanged', async () => {
        expectProviderError(
          await call({ body: speechBody({ text: '[[throttle]]' }) }),
          429,
          'Throttling.RateQuota',
        );
      });
      test.each(['unauthorized', 'denied', 'error', 'drop'])(
        '502 %s, with a message of the gateway',
        async (trigger) => {
          expectError(await call({ body: speechBody({ text: `[[${trigger}]]` }) }), 502);
        },
      );
      test('503 unavailable', async () => {
        expectError(await call({ body: speechBody({ text: '[[unavailable]]' }) }), 503);
      });
      test('200 events up to a late failure', async () => {
        const response = await call({
          body: speechBody({ text: '[[fail-late]] Good morning.' }),
          headers: events,
        });
        const last = parseEvents(response.body.toString('utf8'), 'native').at(-1);
        expect(last).toMatchObject({ event: 'error', status: 500, data: { code: 'InternalError' } });
      });
    });
  },
});
