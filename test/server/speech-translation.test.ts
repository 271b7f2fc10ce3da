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

test('voxa: everything goes into input, mp3 by default', () => {
  expect(toNative(model('voxa-v3-flash'), { ...plain, speed: 1.5, instructions: 'calm' })).toEqual({
    route: 'synthesizer',
    format: 'mp3',
    body: {
      model: 'voxa-v3-flash',
      input: { text: 'Hello.', voice: 'v1', format: 'mp3', rate: 1.5, instruction: 'calm' },
    },
  });
});

test('explicit zero and false of extra_body survive, model and text cannot be replaced', () => {
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

test('alpha: wav synchronous, pcm while streaming, anything else refused', () => {
  const alpha = model('alpha3-tts-flash');
  expect(toNative(alpha, plain).format).toBe('wav');
  expect(toNative(alpha, { ...plain, streaming: 'audio' }).format).toBe('pcm');
  expect(() => toNative(alpha, { ...plain, format: 'mp3' })).toThrow(
    /response_format: .* gives wav without streaming/,
  );
  expect(() => toNative(alpha, { ...plain, format: 'wav', streaming: 'audio' })).toThrow(
    /gives pcm while streaming/,
  );
});

test('alpha has no speed, the others take 0.5 to 2', () => {
  expect(() => toNative(model('alpha-tts'), { ...plain, speed: 1.2 })).toThrow(/speed: /);
  expect(toNative(model('alpha-tts'), { ...plain, speed: 1 }).body.input).toEqual({
    text: 'Hello.',
    voice: 'v1',
  });
  expect(() => toNative(model('voxa-v2'), { ...plain, speed: 2.5 })).toThrow(/speed: must be from 0.5 to 2/);
  expect(() => toNative(model('beta/speech-02-hd'), { ...plain, speed: 0.25 })).toThrow(
    /speed: must be from 0.5 to 2/,
  );
});

test('beta: voice and speed in voice_setting, form in audio_setting, the file behind a URL', () => {
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

test('beta streamed as bytes asks for no aggregated last event, and streams no wav', () => {
  const beta = model('beta/speech-2.8-hd');
  const { body } = toNative(beta, { ...plain, streaming: 'audio', extraInput: { stream_options: { x: 1 } } });
  expect(body.input.stream_options).toEqual({ x: 1, exclude_aggregated_audio: true });
  expect(body.input.output_format).toBeUndefined();
  expect(() => toNative(beta, { ...plain, streaming: 'audio', format: 'wav' })).toThrow(
    /gives mp3, pcm, flac while/,
  );
});

test('every HTTP speech model of the catalogue has a translation', () => {
  const http = models.filter(
    ({ protocols }) => protocols.includes('synthesizer') || protocols.includes('multimodal'),
  );
  expect(http.length).toBe(23);
  for (const one of http) expect(toNative(one, plain).body.model).toBe(one.id);
});
