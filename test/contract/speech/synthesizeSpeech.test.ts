import { afterEach, describe, expect, test } from 'vitest';
import { parseEvents } from '../../conformance/wire/event-stream.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { hasSignature } from '../../conformance/wire/media-signatures.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError, expectProviderError } from '../../support/expectations.ts';

const spoken = (input: object = {}, model = 'voxa-v3-flash') => ({
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
    ])('200 %s behind a signed URL', async (format, type) => {
      const answer = await call({ body: spoken({ format }) });
      expect(answer.status).toBe(200);
      const { output, usage } = jsonOf(answer) as Spoken;
      expect([output.finish_reason, output.audio.data, usage.characters]).toEqual(['stop', '', 13]);
      const file = await fetch(output.audio.url);
      expect(file.status).toBe(200);
      expect(hasSignature(type, Buffer.from(await file.arrayBuffer()))).toBe(true);
    });
    test('200 tokens where the model is metered in them', async () => {
      const answer = await call({ body: spoken({ voice: 'ember' }, 'alpha-audio-3.1-tts-flash') });
      expect((jsonOf(answer) as Spoken).usage).toMatchObject({
        input_tokens: expect.any(Number),
        output_tokens: expect.any(Number),
      });
    });
    test('200 native events', async () => {
      const answer = await call({ body: spoken({ word_timestamp_enabled: true }), headers: events });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      const seen = parseEvents(answer.body.toString('utf8'), 'native');
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
      ['a text of blanks', spoken({ text: ' ' }), 'input.text', 'nothing'],
      ['an unknown voice', spoken({ voice: 'nobody' }), 'input.voice', 'voxanna'],
      ['a model without this route', spoken({}, 'voxa-v1'), 'model', 'inference'],
      ['a multimodal model', spoken({ voice: 'Aria' }, 'alpha3-tts-flash'), 'model', 'multimodal'],
      ['a realtime model', spoken({ voice: 'Aria' }, 'alpha3-tts-flash-realtime'), 'model', 'realtime'],
    ];
    test.each(refused)('400 %s', async (_, body, field, includes) => {
      expectError(await call({ body: { ...body } }), 400, {
        code: 'invalid_request',
        field,
        includes: [includes],
      });
    });
    test('404 an unknown model', async () => {
      expectError(await call({ body: spoken({}, 'voxa-v99') }), 404, {
        code: 'model_not_found',
        field: 'model',
      });
    });
    test('403 a model that the key may not use', async () => {
      expectError(await call({ body: spoken(), as: 'noModels' }), 403, {
        code: 'access_denied',
        field: 'model',
      });
    });
    test('403 a key without quota', async () => {
      expectError(await call({ body: spoken(), as: 'noQuota' }), 403, {
        code: 'insufficient_user_quota',
      });
    });

    describe('when the provider fails', () => {
      // Three failures in a row take a channel out; a good answer in between keeps it.
      afterEach(async () => {
        expect((await call({ body: spoken() })).status).toBe(200);
      });

      test.each([
        ['', {}],
        [' of events', { headers: events }],
      ])('400 its refusal%s, unchanged', async (_, more) => {
        const answer = await call({ body: spoken({ text: '[[reject]]' }), ...more });
        expectProviderError(answer, 400, 'DataInspectionFailed');
      });
      test('429 throttled, unchanged', async () => {
        expectProviderError(
          await call({ body: spoken({ text: '[[throttle]]' }) }),
          429,
          'Throttling.RateQuota',
        );
      });
      test.each(['unauthorized', 'denied', 'error', 'drop'])(
        '502 %s, in the gateway’s words',
        async (trigger) => {
          expectError(await call({ body: spoken({ text: `[[${trigger}]]` }) }), 502);
        },
      );
      test('503 unavailable', async () => {
        expectError(await call({ body: spoken({ text: '[[unavailable]]' }) }), 503);
      });
      test('200 events up to a late failure', async () => {
        const answer = await call({ body: spoken({ text: '[[fail-late]] Good morning.' }), headers: events });
        const last = parseEvents(answer.body.toString('utf8'), 'native').at(-1);
        expect(last).toMatchObject({ event: 'error', status: 500, data: { code: 'InternalError' } });
      });
    });
  },
});
