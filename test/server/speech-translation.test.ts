import { expect, test } from 'vitest';
import { models } from '../../generated/catalogue.ts';
import { type SpeechInput, toNative } from '../../server/providers/native/speech-request.ts';

const model = (id: string) => {
  const found = models.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no model ${id}`);
  return found;
};

const plain: SpeechInput = {
  text: 'Hello.',
  voice: 'v1',
  format: undefined,
  speed: undefined,
  instructions: undefined,
  streaming: 'no',
  extraInput: {},
  extraParameters: undefined,
};

test('voxa: all options are in input, with mp3 by default', () => {
  expect(toNative(model('voxa-v3-flash'), { ...plain, speed: 1.5, instructions: 'calm' })).toEqual({
    route: 'synthesizer',
    format: 'mp3',
    body: {
      model: 'voxa-v3-flash',
      input: { text: 'Hello.', voice: 'v1', format: 'mp3', rate: 1.5, instruction: 'calm' },
    },
  });
});

test('zero and false in extra_body are kept, and model and text cannot be replaced', () => {
  const extraInput = {
    seed: 0,
    enable_markdown_filter: false,
    volume: 0,
    text: 'other',
    voice: 'other',
    model: 'other',
  };
  const { body } = toNative(model('voxa-v2'), { ...plain, extraInput, extraParameters: { a: 0, b: false } });
  expect(body).toEqual({
    model: 'voxa-v2',
    input: { ...extraInput, text: 'Hello.', voice: 'v1', format: 'mp3' },
    parameters: { a: 0, b: false },
  });
});

test('alpha: wav without streaming, pcm while streaming, and no other format', () => {
  const alpha = model('alpha3-tts-flash');
  expect(toNative(alpha, plain).format).toBe('wav');
  expect(toNative(alpha, { ...plain, streaming: 'audio' }).format).toBe('pcm');
  expect(() => toNative(alpha, { ...plain, format: 'mp3' })).toThrow(
    /response_format: must be one of wav for .* without streaming/,
  );
  expect(() => toNative(alpha, { ...plain, format: 'wav', streaming: 'audio' })).toThrow(
    /must be one of pcm for .* while streaming/,
  );
});

test('alpha has no speed, and the other models accept 0.5 to 2', () => {
  expect(() => toNative(model('alpha-tts'), { ...plain, speed: 1.2 })).toThrow(/speed: /);
  expect(toNative(model('alpha-tts'), { ...plain, speed: 1 }).body.input).toEqual({
    text: 'Hello.',
    voice: 'v1',
  });
  for (const id of ['voxa-v2', 'beta/speech-02-hd']) {
    for (const speed of [0.49, 2.01])
      expect(() => toNative(model(id), { ...plain, speed })).toThrow(
        'speed: must be between 0.5 and 2 for this model.',
      );
    for (const speed of [0.5, 2])
      expect(JSON.stringify(toNative(model(id), { ...plain, speed }).body)).toMatch(`":${speed}`);
  }
});

test('beta: voice and speed in voice_setting, format in audio_setting, and the file as a URL', () => {
  const extraInput = {
    sample_rate: 44100,
    voice_setting: { pitch: 0, voice_id: 'other' },
  };
  expect(toNative(model('beta/speech-2.8-hd'), { ...plain, speed: 2, format: 'flac', extraInput })).toEqual({
    route: 'multimodal',
    format: 'flac',
    body: {
      model: 'beta/speech-2.8-hd',
      input: {
        text: 'Hello.',
        voice_setting: { pitch: 0, voice_id: 'v1', speed: 2 },
        audio_setting: { sample_rate: 44100, format: 'flac' },
        output_format: 'url',
      },
    },
  });
});

test('a model without an HTTP route gets the same input over the duplex socket', () => {
  const duplex = { ...model('voxa-v2'), protocols: ['inference' as const] };
  expect(toNative(duplex, plain)).toEqual({ ...toNative(model('voxa-v2'), plain), route: 'inference' });
});

test('alpha: instructions are forwarded', () => {
  expect(toNative(model('alpha3-tts-flash'), { ...plain, instructions: 'calm' })).toEqual({
    route: 'multimodal',
    format: 'wav',
    body: { model: 'alpha3-tts-flash', input: { text: 'Hello.', voice: 'v1', instructions: 'calm' } },
  });
});

test('the format must be one of the model, in every field that sets it', () => {
  const format = (id: string, change: Partial<SpeechInput>) =>
    toNative(model(id), { ...plain, ...change }).format;
  for (const one of ['mp3', 'wav', 'pcm', 'opus'] as const) {
    expect(format('voxa-v2', { format: one })).toBe(one);
    expect(format('voxa-v2', { extraInput: { format: one } })).toBe(one);
  }
  for (const one of ['mp3', 'wav', 'pcm', 'flac'] as const)
    expect(format('beta/speech-02-hd', { extraInput: { audio_setting: { format: one } } })).toBe(one);
  expect(format('voxa-v2', { format: 'pcm', extraInput: { format: 'opus' } })).toBe('pcm');
  expect(() => format('alpha3-tts-flash', { extraInput: { format: 'mp3' } })).toThrow(
    'extra_body.input.format: must be one of wav for alpha3-tts-flash without streaming.',
  );
  expect(() => format('voxa-v2', { format: 'flac' })).toThrow(
    'response_format: must be one of mp3, wav, pcm, opus for voxa-v2 without streaming.',
  );
  expect(() => format('voxa-v2', { extraInput: { format: 'flac' }, streaming: 'events' })).toThrow(
    'extra_body.input.format: must be one of mp3, wav, pcm, opus for voxa-v2 while streaming.',
  );
  expect(() => format('beta/speech-02-hd', { extraInput: { audio_setting: { format: 'opus' } } })).toThrow(
    'extra_body.input.audio_setting.format: must be one of mp3, wav, pcm, flac for beta/speech-02-hd without streaming.',
  );
});

test('beta: invalid objects are ignored, and native events are unchanged', () => {
  const beta = model('beta/speech-02-hd');
  const extraInput = { voice_setting: ['x'], audio_setting: 'x', stream_options: null };
  expect(toNative(beta, { ...plain, streaming: 'events', extraInput }).body.input).toEqual({
    text: 'Hello.',
    voice_setting: { voice_id: 'v1' },
    audio_setting: { format: 'mp3' },
    stream_options: null,
  });
  expect(toNative(beta, { ...plain, streaming: 'audio', extraInput }).body.input.stream_options).toEqual({
    exclude_aggregated_audio: true,
  });
});

/** Options of one model per kind: its own, those with a default that other models ignore, and the list in the error message. */
const optionsByModel = {
  'voxa-v2': {
    own: {
      format: 'mp3',
      sample_rate: 8_000,
      bit_rate: 6,
      language_hints: ['en'],
      instruction: 'calm',
      aigc_propagator: 'a',
      aigc_propagate_id: 'a',
      hot_fix: {},
    },
    defaults: {
      volume: 50,
      rate: 1,
      pitch: 1,
      enable_ssml: false,
      word_timestamp_enabled: false,
      seed: 0,
      enable_markdown_filter: false,
      enable_aigc_tag: false,
    },
    listed:
      'format, sample_rate, volume, rate, pitch, bit_rate, enable_ssml, word_timestamp_enabled, seed, language_hints, ' +
      'instruction, enable_markdown_filter, enable_aigc_tag, aigc_propagator, aigc_propagate_id, hot_fix',
  },
  'alpha3-tts-flash': {
    own: { instructions: 'calm' },
    defaults: { language_type: 'Auto', optimize_instructions: false },
    listed: 'language_type, instructions, optimize_instructions',
  },
  'beta/speech-02-hd': {
    own: {
      voice_setting: {},
      audio_setting: {},
      pronunciation_dict: {},
      timbre_weights: [],
      language_boost: 'auto',
      voice_modify: {},
      output_format: 'hex',
      stream_options: {},
    },
    defaults: { subtitle_enable: false, aigc_watermark: false },
    listed:
      'voice_setting, audio_setting, pronunciation_dict, timbre_weights, language_boost, voice_modify, ' +
      'subtitle_enable, output_format, stream_options, aigc_watermark',
  },
};
/** Options of other kinds that the standard request, or the model, also uses. */
const sharedOptions: Readonly<Record<string, readonly string[]>> = {
  'alpha3-tts-flash': ['format', 'sample_rate'],
  'beta/speech-02-hd': ['sample_rate'],
};

test.each(Object.entries(optionsByModel))(
  '%s accepts its own options, and default values of others',
  (id, { own, defaults, listed }) => {
    const speak = (extraInput: Record<string, unknown>) => toNative(model(id), { ...plain, extraInput });
    for (const [name, value] of Object.entries({ ...own, ...defaults }))
      expect(() => speak({ [name]: value })).not.toThrow();
    for (const name of Object.keys(defaults)) expect(() => speak({ [name]: 'x' })).not.toThrow();
    for (const other of Object.values(optionsByModel)) {
      if (other.own === own) continue;
      expect(() => speak(other.defaults)).not.toThrow();
      for (const name of Object.keys({ ...other.own, ...other.defaults })) {
        expect(() => speak({ [name]: null })).not.toThrow();
        expect(() => speak({ [name]: undefined })).not.toThrow();
        if (sharedOptions[id]?.includes(name) === true) continue;
        expect(() => speak({ [name]: 'x' })).toThrow(
          `extra_body.input.${name}: is not an option of ${id}, which has ${listed}.`,
        );
      }
    }
  },
);

test('alpha has one sample rate, and beta has no action', () => {
  const alpha = (extraInput: Record<string, unknown>) =>
    toNative(model('alpha-tts'), { ...plain, extraInput });
  expect(alpha({ sample_rate: 24_000 }).body.input).toMatchObject({ sample_rate: 24_000 });
  for (const sample_rate of [16_000, 0, '24000'])
    expect(() => alpha({ sample_rate })).toThrow(
      'extra_body.input.sample_rate: must be 24000 for alpha-tts.',
    );
  const extraInput = { action: 'voice_clone' };
  expect(() => toNative(model('beta/speech-02-hd'), { ...plain, extraInput })).toThrow(
    'extra_body.input.action: is not allowed on this route. Clone a voice on the native route of beta/speech-02-hd.',
  );
  expect(toNative(model('voxa-v2'), { ...plain, extraInput: { brand_new: 5 } }).body.input.brand_new).toBe(5);
});

test('beta streamed as bytes requests no aggregated last event, and has no wav', () => {
  const beta = model('beta/speech-2.8-hd');
  const { body } = toNative(beta, { ...plain, streaming: 'audio', extraInput: { stream_options: { x: 1 } } });
  expect(body.input.stream_options).toEqual({ x: 1, exclude_aggregated_audio: true });
  expect(body.input.output_format).toBeUndefined();
  expect(() => toNative(beta, { ...plain, streaming: 'audio', format: 'wav' })).toThrow(
    /must be one of mp3, pcm, flac for .* while/,
  );
});

test('every HTTP speech model of the catalog has a translation', () => {
  const http = models.filter(
    ({ protocols }) => protocols.includes('synthesizer') || protocols.includes('multimodal'),
  );
  expect(http.length).toBe(23);
  for (const one of http) expect(toNative(one, plain).body.model).toBe(one.id);
});
