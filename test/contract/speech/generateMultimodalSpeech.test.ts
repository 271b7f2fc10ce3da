import { afterEach, describe, expect, test } from 'vitest';
import { parseEvents } from '../../conformance/wire/event-stream.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { hasSignature } from '../../conformance/wire/media-signatures.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError, expectProviderError } from '../../support/expectations.ts';

const speechBody = (input: object = {}, model = 'alpha3-tts-flash') => ({
  model,
  input: { text: 'Good morning.', voice: 'Aria', ...input },
});
const instructed = (input: object) => speechBody(input, 'alpha3-tts-instruct-flash');
const beta = (input: object = {}) => ({
  model: 'beta/speech-02-turbo',
  input: { text: 'Good morning.', voice_setting: { voice_id: 'beta_female_calm' }, ...input },
});
const events = { 'X-Native-SSE': 'enable' };

interface Spoken {
  output: { audio: { url: string; data: string } };
  usage: Record<string, number>;
}

describeOperation('generateMultimodalSpeech', {
  invalid: {
    'a realtime model': { change: { model: 'alpha3-tts-flash-realtime' }, field: 'model' },
    'instructions for a model that is not an instruct model': {
      example: 'instruct',
      change: { model: 'alpha3-tts-flash' },
      field: 'input.instructions',
    },
    'without a model': { change: { model: undefined }, field: 'model' },
    'without an input': { change: { input: undefined }, field: 'input' },
    'without a text': { change: { input: { text: undefined } }, field: 'input.text' },
    'without a voice': { change: { input: { voice: undefined } }, field: 'input.voice' },
    'an alpha3 text of 601 characters': {
      example: 'alpha3',
      change: { input: { text: 'a'.repeat(601) } },
      field: 'input.text',
      limit: 600,
    },
    'a language that does not exist': {
      change: { input: { language_type: 'Latin' } },
      field: 'input.language_type',
      limit: 'Auto',
    },
    'optimize_instructions without instructions': {
      change: {
        model: 'alpha3-tts-instruct-flash',
        input: { instructions: undefined, optimize_instructions: true },
      },
      field: 'input.instructions',
    },
    'a beta text without a voice setting': {
      example: 'beta',
      change: { input: { voice_setting: undefined } },
      field: 'input.voice_setting',
    },
    'a beta speed of 3': {
      example: 'beta',
      change: { input: { voice_setting: { speed: 3 } } },
      field: 'input.voice_setting.speed',
      limit: 2,
    },
    'a beta sample rate that does not exist': {
      example: 'beta',
      change: { input: { audio_setting: { sample_rate: 48_000 } } },
      field: 'input.audio_setting.sample_rate',
      limit: 44_100,
    },
    'a beta clone without its recording': {
      example: 'beta_clone',
      change: { input: { audio_url: undefined } },
      field: 'input.audio_url',
    },
    'an event switch that does not exist': {
      headers: { 'X-Native-SSE': 'yes' },
      field: 'x-native-sse',
      limit: 'enable',
    },
  },
  gatewayTests: (call) => {
    test('200 a signed URL of WAV, metered in characters', async () => {
      const response = await call({ body: speechBody() });
      expect(response.status).toBe(200);
      const { output, usage } = jsonOf(response) as Spoken;
      expect([output.audio.data, usage.characters]).toEqual(['', 13]);
      const file = await fetch(output.audio.url);
      expect(hasSignature('audio/wav', Buffer.from(await file.arrayBuffer()))).toBe(true);
    });
    test('200 a legacy model, metered in tokens', async () => {
      const { usage } = jsonOf(await call({ body: speechBody({}, 'alpha-tts') })) as Spoken;
      expect(usage).toMatchObject({ input_tokens: expect.any(Number), output_tokens: expect.any(Number) });
    });
    test('200 with instructions', async () => {
      const body = instructed({ instructions: 'Whisper.', optimize_instructions: true });
      expect((await call({ body })).status).toBe(200);
    });
    test('200 hexadecimal audio of beta', async () => {
      const response = await call({ body: beta({ audio_setting: { format: 'flac' } }) });
      const { output } = jsonOf(response) as { output: { data: { audio: string } } };
      expect(hasSignature('audio/flac', Buffer.from(output.data.audio, 'hex'))).toBe(true);
    });
    test('200 PCM in native events', async () => {
      const response = await call({ body: speechBody(), headers: events });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      const seen = parseEvents(response.body.toString('utf8'), 'native').map(({ data }) => data as Spoken);
      const audio = Buffer.concat(seen.map(({ output }) => Buffer.from(output.audio.data, 'base64')));
      expect(hasSignature('audio/pcm', audio)).toBe(true);
      expect(seen.at(-1)?.usage.characters).toBe(13);
    });
    test('200 native events of beta', async () => {
      const response = await call({ body: beta(), headers: events });
      const seen = parseEvents(response.body.toString('utf8'), 'native');
      expect(seen.at(-1)?.data).toMatchObject({ output: { data: { status: 2 } }, usage: { characters: 13 } });
    });
    test('200 a rejection by beta in the body', async () => {
      const response = await call({ body: beta({ text: '[[base-resp:1027]]' }) });
      expect(response.status).toBe(200);
      expect(jsonOf(response)).toMatchObject({ output: { base_resp: { status_code: 1027 }, data: null } });
    });

    const refused: [string, object, string, string][] = [
      [
        'a legacy text over 512 tokens',
        speechBody({ text: 'word '.repeat(1000) }, 'alpha-tts'),
        'input.text',
        '512',
      ],
      ['an unknown voice', speechBody({ voice: 'nobody' }), 'input.voice', 'Aria'],
      [
        'a system voice on a cloning model',
        speechBody({}, 'alpha3-tts-vc-2026-01-22'),
        'input.voice',
        'cloned',
      ],
      [
        'a system voice on a design model',
        speechBody({}, 'alpha3-tts-vd-2026-01-26'),
        'input.voice',
        'designed',
      ],
      [
        'instructions to a model that takes none',
        speechBody({ instructions: 'Whisper.' }),
        'input.instructions',
        'instruct models only',
      ],
      ['a synthesizer model', speechBody({ voice: 'voxanna' }, 'voxa-v2'), 'model', 'SpeechSynthesizer'],
      ['a realtime model', speechBody({}, 'alpha3-tts-flash-realtime'), 'model', 'realtime'],
    ];
    test.each(refused)('400 %s', async (_, body, field, includes) => {
      expectError(await call({ body: { ...body } }), 400, {
        code: 'invalid_request',
        field,
        includes: [includes],
      });
    });
    test('404 an unknown model', async () => {
      expectError(await call({ body: speechBody({}, 'alpha9-tts') }), 404, {
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
        expectProviderError(
          await call({ body: speechBody({ text: '[[reject]]' }), ...more }),
          400,
          'DataInspectionFailed',
        );
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
    });
  },
});
