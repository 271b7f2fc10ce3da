import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { models } from '../../generated/catalogue.ts';
import { type BetaReply, multimodalPath, synthesizerPath, useSandbox } from './sandbox-client.ts';

const client = useSandbox();
const voxa = (input: object) => ({ model: 'voxa-v2', input: { text: 'Hi', voice: 'voxanna', ...input } });
const alpha = (input: object, model = 'alpha3-tts-flash') => ({
  model,
  input: { text: 'Hi', voice: 'Aria', ...input },
});
const instruct = (input: object) => alpha(input, 'alpha3-tts-instruct-flash');
const beta = (input: object, model = 'beta/speech-02-hd') => ({
  model,
  input: { text: 'Hi', voice_setting: { voice_id: 'beta_male_deep' }, ...input },
});
const betaVoice = (setting: object) => beta({ voice_setting: { voice_id: 'beta_male_deep', ...setting } });

async function requestError(path: string, body: unknown, events = false) {
  const response = await client.post(path, body, { events });
  const error = (await response.json()) as { code: string; message: string; request_id: string };
  expect(Object.keys(error)).toEqual(['code', 'message', 'request_id']);
  return { status: response.status, ...error };
}

describe('400 InvalidParameter names the field and its limit', () => {
  test.each<[string, unknown, string]>([
    ['not JSON', '{"model":', 'not valid JSON'],
    ['empty body', '', 'not valid JSON'],
    ['array', [], 'must be a JSON object'],
    ['no model', { input: {} }, 'model is required'],
    ['model of another type', { model: 7, input: {} }, 'model is required'],
    ['no input', { model: 'voxa-v2' }, 'input is required'],
    ['input of another type', { model: 'voxa-v2', input: 'Hi' }, 'input must be an object'],
    ['no text', voxa({ text: undefined }), 'input.text is required'],
    ['empty text', voxa({ text: '' }), 'input.text is required'],
    ['blank text', voxa({ text: ' \n ' }), 'input.text contains no text to speak'],
    [
      'only tags',
      voxa({ text: '<speak></speak>', enable_ssml: true }),
      'input.text contains no text to speak',
    ],
    ['text of another type', voxa({ text: 5 }), 'input.text must be a string'],
    ['long text', voxa({ text: 'a'.repeat(20_001) }), '20000 characters'],
    ['long Chinese text', voxa({ text: '字'.repeat(10_001) }), '20000 characters'],
    ['no voice', voxa({ voice: undefined }), 'input.voice is required'],
    ['unknown voice', voxa({ voice: 'nobody' }), 'input.voice nobody does not exist'],
    ['voice of another family', voxa({ voice: 'Aria' }), 'input.voice Aria does not exist'],
    ['voice named like a property', voxa({ voice: 'constructor' }), 'input.voice constructor does not exist'],
    ['format', voxa({ format: 'flac' }), 'input.format must be one of mp3, pcm, wav, opus'],
    ['sample_rate', voxa({ sample_rate: 11025 }), 'input.sample_rate must be one of 8000, 16000'],
    ['sample_rate as string', voxa({ sample_rate: '8000' }), 'input.sample_rate must be one of'],
    ['volume', voxa({ volume: 101 }), 'input.volume must be an integer from 0 to 100'],
    ['negative volume', voxa({ volume: -1 }), 'input.volume'],
    ['volume with a fraction', voxa({ volume: 50.5 }), 'input.volume'],
    ['rate', voxa({ rate: 2.1 }), 'input.rate must be a number from 0.5 to 2'],
    ['rate 0', voxa({ rate: 0 }), 'input.rate'],
    ['pitch', voxa({ pitch: 0.4 }), 'input.pitch must be a number from 0.5 to 2'],
    ['pitch as string', voxa({ pitch: '1' }), 'input.pitch'],
    ['bit_rate', voxa({ bit_rate: 511 }), 'input.bit_rate must be an integer from 6 to 510'],
    ['seed', voxa({ seed: 65536 }), 'input.seed must be an integer from 0 to 65535'],
    ['language_hints', voxa({ language_hints: ['xx'] }), 'input.language_hints must contain one of zh, en'],
    ['language_hints as string', voxa({ language_hints: 'zh' }), 'input.language_hints must be an array'],
    ['enable_ssml', voxa({ enable_ssml: 'yes' }), 'input.enable_ssml must be true or false'],
    ['instruction', voxa({ instruction: 1 }), 'input.instruction must be a string'],
    ['realtime model', alpha({}, 'alpha3-tts-flash-realtime'), 'not served on this route'],
    ['multimodal model', alpha({}), 'not served on this route'],
    ['socket-only model', { ...voxa({}), model: 'voxa-v1' }, 'not served on this route'],
  ])('synthesizer: %s', async (_case, body, message) => {
    const error = await requestError(synthesizerPath, body);
    expect(error).toMatchObject({ status: 400, code: 'InvalidParameter' });
    expect(error.message).toContain(message);
    expect(await requestError(synthesizerPath, body, true)).toMatchObject({
      status: 400,
      message: error.message,
    });
  });

  test.each<[string, unknown, string]>([
    ['synthesizer model', voxa({}), 'not served on this route'],
    ['video model', { model: 'gamma3.0-video', input: {} }, 'not served on this route'],
    ['long text', alpha({ text: 'a'.repeat(601) }), '600 characters'],
    ['long legacy text', alpha({ text: '你'.repeat(513) }, 'alpha-tts'), '512 tokens'],
    ['long legacy text of words', alpha({ text: 'word '.repeat(513) }, 'alpha-tts'), '512 tokens'],
    ['blank text', alpha({ text: '\t' }), 'input.text contains no text to speak'],
    ['unknown voice', alpha({ voice: 'nobody' }), 'input.voice nobody does not exist'],
    [
      'language_type',
      alpha({ language_type: 'Klingon' }),
      'input.language_type must be one of Auto, Chinese',
    ],
    ['instructions for a plain model', alpha({ instructions: 'slowly' }), 'needs an instruct model'],
    [
      'optimize_instructions for a plain model',
      alpha({ optimize_instructions: true }),
      'needs an instruct model',
    ],
    ['optimize_instructions alone', instruct({ optimize_instructions: true }), 'requires instructions'],
    ['long instructions', instruct({ instructions: 'a'.repeat(6401) }), '1600 tokens'],
    [
      'system voice for a cloning model',
      alpha({}, 'alpha3-tts-vc-2026-01-22'),
      'does not support system voices',
    ],
    [
      'system voice for a design model',
      alpha({}, 'alpha3-tts-vd-2026-01-26'),
      'does not support system voices',
    ],
    ['unknown cloned voice', alpha({ voice: 'v-1' }, 'alpha3-tts-vc-2026-01-22'), 'has no cloned voice'],
    ['beta without voice_setting', beta({ voice_setting: undefined }), 'input.voice_setting is required'],
    ['beta without voice', beta({ voice_setting: {} }), 'input.voice_setting.voice_id is required'],
    ['beta unknown voice', betaVoice({ voice_id: 'nobody' }), 'voice_id nobody does not exist'],
    ['beta long text', beta({ text: 'a'.repeat(10_000) }), '9999 characters'],
    ['beta speed', betaVoice({ speed: 3 }), 'input.voice_setting.speed must be a number from 0.5 to 2'],
    ['beta vol', betaVoice({ vol: 11 }), 'input.voice_setting.vol must be a number from 0 to 10'],
    ['beta vol 0', betaVoice({ vol: 0 }), 'input.voice_setting.vol must be above 0'],
    ['beta pitch', betaVoice({ pitch: 13 }), 'input.voice_setting.pitch must be an integer from -12 to 12'],
    ['beta emotion', betaVoice({ emotion: 'bored' }), 'input.voice_setting.emotion must be one of happy'],
    [
      'beta whisper on 2.8',
      { ...betaVoice({ emotion: 'whisper' }), model: 'beta/speech-2.8-hd' },
      'must not be whisper',
    ],
    [
      'beta format',
      beta({ audio_setting: { format: 'opus' } }),
      'input.audio_setting.format must be one of mp3',
    ],
    ['beta sample_rate', beta({ audio_setting: { sample_rate: 48000 } }), 'input.audio_setting.sample_rate'],
    [
      'beta bitrate',
      beta({ audio_setting: { bitrate: 1 } }),
      'input.audio_setting.bitrate must be one of 32000',
    ],
    [
      'beta channel',
      beta({ audio_setting: { channel: 3 } }),
      'input.audio_setting.channel must be one of 1, 2',
    ],
    ['beta weights', beta({ timbre_weights: Array(5).fill({}) }), 'must not have more than 4'],
    [
      'beta weight',
      beta({ timbre_weights: [{ voice_id: 'beta_male_deep', weight: 0 }] }),
      'input.timbre_weights[0].weight must be an integer from 1 to 100',
    ],
    ['beta voice_modify', beta({ voice_modify: { timbre: 101 } }), 'input.voice_modify.timbre'],
    [
      'beta sound_effects',
      beta({ voice_modify: { sound_effects: 'cave' } }),
      'input.voice_modify.sound_effects',
    ],
    ['beta output_format', beta({ output_format: 'base64' }), 'input.output_format must be one of hex, url'],
    ['beta stream_options', beta({ stream_options: [] }), 'input.stream_options must be an object'],
  ])('multimodal: %s', async (_case, body, message) => {
    const error = await requestError(multimodalPath, body);
    expect(error).toMatchObject({ status: 400, code: 'InvalidParameter' });
    expect(error.message).toContain(message);
  });
});

describe('the beta engine rejects combinations with status 200', () => {
  test.each<[string, object, boolean, number]>([
    ['wav while streaming', { audio_setting: { format: 'wav' } }, true, 2013],
    ['URL while streaming', { output_format: 'url' }, true, 2013],
    ['subtitles while streaming', { subtitle_enable: true }, true, 2013],
    ['watermark while streaming', { aigc_watermark: true }, true, 2013],
    ['voice_modify on pcm', { audio_setting: { format: 'pcm' }, voice_modify: {} }, false, 2013],
    ['long pauses', { text: `a${'<#99#>'.repeat(2)}b` }, false, 2013],
    ['invisible characters', { text: 'ab\u200b\u200b' }, false, 1042],
  ])('%s', async (_case, input, events, status_code) => {
    const response = await client.post(multimodalPath, beta(input), { events });
    const text = await response.text();
    const { output } = JSON.parse(events ? (text.split('data:')[1] ?? '') : text) as BetaReply;
    expect(response.status).toBe(200);
    expect(output).toMatchObject({ base_resp: { status_code }, data: null });
  });
});

test('unknown model is 404 ModelNotFound', async () => {
  for (const model of ['no-such-model', 'constructor', '__proto__']) {
    expect(await requestError(synthesizerPath, { ...voxa({}), model })).toMatchObject({
      status: 404,
      code: 'ModelNotFound',
    });
    expect(await requestError(multimodalPath, { ...alpha({}), model })).toMatchObject({
      status: 404,
      code: 'ModelNotFound',
    });
  }
});

test.each(['', 'Bearer', 'Bearer wrong', 'Basic c2FuZGJveC1rZXk=', 'sandbox-key'])(
  'key %j is 401',
  async (authorization) => {
    const response = await fetch(client.sandbox.url + synthesizerPath, {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify(voxa({})),
    });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ code: 'InvalidApiKey', request_id: expect.any(String) });
  },
);

test('a body above 1 MiB is 413', async () => {
  const error = await requestError(synthesizerPath, voxa({ text: 'a'.repeat(1024 * 1024) }));
  expect(error).toMatchObject({ status: 413, code: 'InvalidParameter.RequestTooLarge' });
  expect(error.message).toContain('1048576');
});

test('unknown paths and methods', async () => {
  expect(await requestError('/api/v1/services', {})).toMatchObject({ status: 404 });
  const response = await fetch(client.sandbox.url + synthesizerPath);
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
});

test('limits are inclusive and unknown fields and nulls are ignored', async () => {
  const bodies = [
    voxa({
      volume: 0,
      rate: 2,
      pitch: 0.5,
      seed: 0,
      bit_rate: 6,
      hot_fix: { replace: [] },
      unknown: { a: [1] },
    }),
    voxa({
      volume: 100,
      rate: 0.5,
      pitch: 2,
      seed: 65535,
      bit_rate: 510,
      format: null,
      language_hints: ['zh', 'xx'],
    }),
  ];
  for (const body of bodies) expect((await client.post(synthesizerPath, body)).status).toBe(200);
  const longest = [alpha({ text: 'Hi.'.padEnd(600) }), alpha({ text: 'Hi.'.padEnd(2048) }, 'alpha-tts')];
  for (const body of longest) expect((await client.post(multimodalPath, body)).status).toBe(200);
});

test('every HTTP model returns audio', async () => {
  const spoken = models.filter(({ voices, protocols }) => {
    return (
      voices === 'system' &&
      protocols.some((protocol) => protocol === 'synthesizer' || protocol === 'multimodal')
    );
  });
  expect(spoken.length).toBeGreaterThan(15);
  for (const { id, family } of spoken) {
    const [path, body] =
      family === 'beta'
        ? [multimodalPath, beta({}, id)]
        : family === 'voxa'
          ? [synthesizerPath, { ...voxa({}), model: id }]
          : family === 'alpha-audio'
            ? [synthesizerPath, { ...voxa({ voice: 'flint' }), model: id }]
            : [multimodalPath, alpha({}, id)];
    expect((await client.post(path, body)).status, id).toBe(200);
  }
});

test('continues to serve after malformed requests', async () => {
  const { port } = new URL(client.sandbox.url);
  for (const bytes of [
    '\u0000\u0001\u0002',
    'GET //\u00ff HTTP/1.1\r\n\r\n',
    'POST http://[ HTTP/1.1\r\nhost: x\r\n\r\n',
  ]) {
    await new Promise((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.end(bytes, 'latin1'));
      socket.on('close', resolve).on('error', resolve).resume();
    });
  }
  expect((await client.post(synthesizerPath, voxa({}))).status).toBe(200);
});
