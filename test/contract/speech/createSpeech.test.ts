import { afterEach, describe, expect, test } from 'vitest';
import { parseEvents } from '../../conformance/wire/event-stream.ts';
import { describeOperation } from '../../support/contract.ts';
import { expectError } from '../../support/expectations.ts';

const voxa = { model: 'voxa-v3-flash', input: 'Good morning.', voice: 'voxanna' };
const alpha3 = { model: 'alpha3-tts-flash', input: 'Good morning.', voice: 'Aria' };
const legacy = { model: 'alpha-tts', input: 'Good morning.', voice: 'Aria' };
const instruct = { model: 'alpha3-tts-instruct-flash', input: 'Good morning.', voice: 'Bruno' };
const beta = { model: 'beta/speech-02-turbo', input: 'Good morning.', voice: 'beta_female_calm' };

describeOperation('createSpeech', {
  invalid: {
    'without a model': { change: { model: undefined }, field: 'model' },
    'without a text': { change: { input: undefined }, field: 'input' },
    'an empty text': { change: { input: '' }, field: 'input', limit: 1 },
    'a text that is a number': { change: { input: 7 }, field: 'input' },
    'a text of 20001 characters': { change: { input: 'a'.repeat(20_001) }, field: 'input', limit: 20_000 },
    'without a voice': { change: { voice: undefined }, field: 'voice' },
    'a voice object without an id': { change: { voice: {} }, field: 'voice.id' },
    'an unsupported format': {
      change: { response_format: 'aac' },
      field: 'response_format',
      limit: 'opus',
    },
    'a speed of 5': { change: { speed: 5 }, field: 'speed', limit: 4 },
    'a stream that is a string': { change: { stream: 'true' }, field: 'stream' },
    'a stream format that does not exist': {
      change: { stream_format: 'xml' },
      field: 'stream_format',
      limit: 'sse',
    },
    'native options that are a list': { change: { extra_body: { input: [] } }, field: 'extra_body.input' },
  },
  gatewayTests: (call) => {
    const created: [string, object, string][] = [
      ['mp3 of voxa by default', voxa, 'audio/mpeg'],
      ['wav of voxa', { ...voxa, response_format: 'wav' }, 'audio/wav'],
      ['pcm of voxa', { ...voxa, response_format: 'pcm' }, 'audio/pcm'],
      ['opus of voxa', { ...voxa, response_format: 'opus' }, 'audio/ogg'],
      ['mp3 of alpha-audio', { ...voxa, model: 'alpha-audio-3.0-tts-flash', voice: 'ember' }, 'audio/mpeg'],
      ['wav of alpha3', alpha3, 'audio/wav'],
      ['wav of a legacy model', legacy, 'audio/wav'],
      ['wav as instructed', { ...instruct, instructions: 'Whisper.' }, 'audio/wav'],
      ['flac of beta', { ...beta, response_format: 'flac' }, 'audio/flac'],
      [
        'with a voice object and explicit zeros',
        { ...voxa, voice: { id: 'voxton' }, extra_body: { input: { seed: 0 } } },
        'audio/mpeg',
      ],
    ];
    test.each(created)('200 %s', async (_, body, type) => {
      const response = await call({ body: { ...body } });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
      expect(response.headers.get('content-length')).toBe(String(response.body.length));
    });

    const streamed: [string, object, string][] = [
      ['mp3 of voxa', voxa, 'audio/mpeg'],
      ['pcm of alpha3', alpha3, 'audio/pcm'],
      ['mp3 of beta', beta, 'audio/mpeg'],
    ];
    test.each(streamed)('200 %s in chunks', async (_, body, type) => {
      const response = await call({ body: { ...body, stream: true } });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
      expect(response.headers.get('transfer-encoding')).toBe('chunked');
    });

    test.each([
      ['voxa', voxa],
      ['alpha3', alpha3],
      ['beta', beta],
    ])('200 native events of %s', async (_, body) => {
      const response = await call({ body: { ...body, stream: true, stream_format: 'sse' } });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
      const events = parseEvents(response.body.toString('utf8'), 'native');
      expect(events.length).toBeGreaterThan(1);
      expect(events.at(-1)?.data).toMatchObject({ usage: { characters: 'Good morning.'.length } });
    });

    const refused: [string, object, string, string][] = [
      ['a text of spaces', { ...voxa, input: '  ' }, 'input', 'nothing'],
      ['an alpha3 text of 601 characters', { ...alpha3, input: 'a'.repeat(601) }, 'input', '600'],
      ['a legacy text over 512 tokens', { ...legacy, input: 'word '.repeat(1000) }, 'input', '512'],
      ['an unknown voice', { ...voxa, voice: 'nobody' }, 'voice', 'nobody'],
      ['a voice of another family', { ...voxa, voice: 'Aria' }, 'voice', 'voxanna'],
      [
        'a system voice on a cloning model',
        { ...alpha3, model: 'alpha3-tts-vc-2026-01-22' },
        'voice',
        'cloned',
      ],
      [
        'instructions to a model that takes none',
        { ...alpha3, instructions: 'Whisper.' },
        'instructions',
        'alpha3-tts-flash',
      ],
      [
        'optimize_instructions without instructions',
        { ...instruct, extra_body: { input: { optimize_instructions: true } } },
        'extra_body.input.optimize_instructions',
        'instructions',
      ],
      ['a speed of 3 on voxa', { ...voxa, speed: 3 }, 'speed', '2'],
      ['a speed on alpha3', { ...alpha3, speed: 1.5 }, 'speed', '1'],
      ['mp3 of alpha3', { ...alpha3, response_format: 'mp3' }, 'response_format', 'wav'],
      [
        'wav while streaming beta',
        { ...beta, response_format: 'wav', stream: true },
        'response_format',
        'mp3',
      ],
      ['a realtime model', { ...alpha3, model: 'alpha3-tts-flash-realtime' }, 'model', '/api-ws/v1/realtime'],
      ['a video model', { ...alpha3, model: 'gamma3.0-video' }, 'model', 'gamma3.0-video'],
    ];
    test.each(refused)('400 %s', async (_, body, field, includes) => {
      expectError(await call({ body: { ...body } }), 400, {
        code: 'invalid_request',
        field,
        includes: [includes],
      });
    });

    test('404 an unknown model', async () => {
      const response = await call({ body: { ...voxa, model: 'voxa-v99' } });
      expectError(response, 404, { code: 'model_not_found', field: 'model', includes: ['voxa-v99'] });
    });
    test('403 for a model that the key may not use', async () => {
      const response = await call({ body: voxa, as: 'noModels' });
      expectError(response, 403, { code: 'access_denied', field: 'model', includes: ['voxa-v3-flash'] });
    });
    test('403 for a key without quota', async () => {
      expectError(await call({ body: voxa, as: 'noQuota' }), 403, { code: 'insufficient_user_quota' });
    });

    describe('if the provider fails', () => {
      // Three consecutive failures would disable the channel, so a success comes in between.
      afterEach(async () => {
        expect((await call({ body: voxa })).status).toBe(200);
      });

      test('400 a rejection with its message', async () => {
        const response = await call({ body: { ...voxa, input: '[[reject]]' } });
        expectError(response, 400, { code: 'DataInspectionFailed', includes: ['inappropriate'] });
      });
      test('400 a rejection of a stream', async () => {
        const response = await call({ body: { ...voxa, input: '[[reject]]', stream: true } });
        expectError(response, 400, { code: 'DataInspectionFailed' });
      });
      test.each([
        ['throttled', voxa, '[[throttle]]'],
        ['beta, with status 200', beta, '[[base-resp:1002]]'],
      ])('429 %s', async (_, body, input) => {
        const response = await call({ body: { ...body, input } });
        expectError(response, 429, { code: 'rate_limit_exceeded' });
      });
      test.each([
        'unauthorized',
        'denied',
        'error',
        'malformed',
        'drop',
        'fail-late',
        'no-audio',
        'expired-url',
      ])('502 %s', async (trigger) =>
        expectError(await call({ body: { ...voxa, input: `[[${trigger}]] Hi.` } }), 502),
      );
      test('503 unavailable', async () => {
        expectError(await call({ body: { ...voxa, input: '[[unavailable]]' } }), 503);
      });
      test('a stream that fails late is aborted', async () => {
        await expect(
          call({ body: { ...voxa, input: '[[fail-late]] Good morning.', stream: true } }),
        ).rejects.toThrow();
      });
      test('200 native events up to the failure', async () => {
        const body = { ...voxa, input: '[[fail-late]] Good morning.', stream: true, stream_format: 'sse' };
        const events = parseEvents((await call({ body })).body.toString('utf8'), 'native');
        expect(events.at(-1)).toMatchObject({ event: 'error', status: 500 });
      });
    });
  },
});
