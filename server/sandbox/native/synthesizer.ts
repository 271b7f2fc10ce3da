import { countCharacters, type Meter } from '../billing.ts';
import { combine, deliveryOf } from '../delivery.ts';
import { wantsEvents } from '../http/event-stream.ts';
import type { Exchange } from '../http/exchange.ts';
import { readJson } from '../http/json-body.ts';
import { invalidParameter } from '../http/native-error.ts';
import { engineLanguages, type Language } from '../language.ts';
import { requestedModel } from '../models.ts';
import { readText, stripSsml } from '../reading.ts';
import type { AudioFormat } from '../speech/commands.ts';
import { systemVoice } from '../voices.ts';
import { answerSpeech } from './answer-speech.ts';
import { Parameters } from './parameters.ts';
import type { SpeechRequest, SpeechWriter } from './speech.ts';

const formats: readonly AudioFormat[] = ['mp3', 'pcm', 'wav', 'opus'];
const sampleRates = [8000, 16000, 22050, 24000, 44100, 48000];
const hintedLanguages: readonly Language[] = [
  'zh',
  'en',
  'fr',
  'de',
  'ja',
  'ko',
  'ru',
  'pt',
  'th',
  'id',
  'vi',
];
/** In billed characters. */
const longestText = 20_000;

/** `POST /api/v1/services/audio/tts/SpeechSynthesizer`: the voxa and alpha-audio models. All options sit in `input`. */
export async function synthesizeSpeech(exchange: Exchange): Promise<void> {
  const body = await readJson(exchange.request);
  const model = requestedModel(body.model, 'synthesizer');
  const input = new Parameters(body, '').requiredObject('input');
  const voice = input.requiredString('voice');
  const timbre = systemVoice(model.family, voice);
  if (!timbre)
    throw invalidParameter(`input.voice ${voice.slice(0, 100)} does not exist for model ${model.id}`);

  const written = input.requiredString('text');
  const text = input.flag('enable_ssml') ? stripSsml(written) : written;
  if (text.trim() === '') throw invalidParameter('input.text has nothing to speak');
  if (countCharacters(text) > longestText) {
    throw invalidParameter(
      `input.text must not be longer than ${longestText} characters, an ideograph counting 2`,
    );
  }
  const speech: SpeechRequest = {
    text,
    sentences: readText(text, { markdown: input.flag('enable_markdown_filter') }),
    timbre,
    language: hintedLanguage(input),
    delivery: combine(deliveryOf(input.string('instruction') ?? ''), {
      volume: input.integer('volume', { min: 0, max: 100 }, 50) / 50,
      rate: input.number('rate', { min: 0.5, max: 2 }, 1),
      pitch: input.number('pitch', { min: 0.5, max: 2 }, 1),
    }),
    audio: {
      format: input.choice('format', formats, 'mp3'),
      sampleRate: input.choice('sample_rate', sampleRates, 22050),
      channels: 1,
    },
  };
  const opusBitRate = input.integer('bit_rate', { min: 6, max: 510 }, 32) * 1000;
  if (speech.audio.format === 'opus') speech.audio.bitRate = opusBitRate;
  input.integer('seed', { min: 0, max: 65535 }, 0);
  const timed = input.flag('word_timestamp_enabled');

  const writer = synthesizerWriter(exchange, model.unit === 'tokens', timed);
  await answerSpeech(exchange, speech, writer, wantsEvents(exchange));
}

/** Only the first hint counts. */
function hintedLanguage(input: Parameters): Language | undefined {
  const [hint] = input.list('language_hints');
  if (hint === undefined) return undefined;
  const language = hintedLanguages.find((known) => known === hint);
  if (!language || !(language in engineLanguages)) {
    throw invalidParameter(`input.language_hints must hold one of ${hintedLanguages.join(', ')}`);
  }
  return language;
}

function synthesizerWriter({ requestId, services }: Exchange, tokens: boolean, timed: boolean): SpeechWriter {
  const audioFields = { id: `audio_${requestId}`, expires_at: services.files.expiry() };
  const usage = (meter: Meter) =>
    tokens
      ? { input_tokens: meter.textTokens, output_tokens: meter.audioTokens }
      : { characters: meter.characters };
  const running = (
    type: string,
    output: { original_text?: string; index: number; words?: object[]; data?: string },
  ) => ({
    request_id: requestId,
    output: {
      finish_reason: 'null',
      type,
      ...(output.original_text !== undefined && { original_text: output.original_text }),
      sentence: { index: output.index, words: output.words ?? [] },
      audio: { data: output.data ?? '', ...audioFields },
    },
  });
  const finished = (meter: Meter, url: string) => ({
    request_id: requestId,
    output: { finish_reason: 'stop', audio: { data: '', url, ...audioFields } },
    usage: usage(meter),
  });
  return {
    whole: ({ meter, url }) => finished(meter, url()),
    begin: (index, { text }) => running('sentence-begin', { index, original_text: text }),
    audio: (index, { data, words }) =>
      running('sentence-synthesis', {
        index,
        data: data.toString('base64'),
        words: timed
          ? words.map((word) => ({
              text: word.text,
              begin_index: word.beginIndex,
              end_index: word.endIndex,
              begin_time: word.beginTime,
              end_time: word.endTime,
            }))
          : [],
      }),
    end: (index, { text }, meter) => ({
      ...running('sentence-end', { index, original_text: text }),
      usage: usage(meter),
    }),
    last: ({ meter, url }) => finished(meter, url()),
  };
}
