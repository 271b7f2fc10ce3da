import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { Meter } from '../billing.ts';
import type { CustomVoices } from '../custom-voices/custom-voices.ts';
import { combine, deliveryOf } from '../delivery.ts';
import type { Language } from '../language.ts';
import type { AudioFormat, Word } from '../speech/commands.ts';
import type { Parameters } from './parameters.ts';
import type { SpeechSettings } from './speech.ts';
import { chooseVoice } from './voice-fields.ts';

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

/** The options of the voxa and alpha-audio models, the same over HTTP and on the socket. */
export interface SynthesisOptions extends SpeechSettings {
  /** The text is SSML. */
  ssml: boolean;
  /** Leave markdown signs unspoken. */
  markdown: boolean;
  /** Report the times of words. */
  timed: boolean;
}

/** Reads them; throws `InvalidParameter`. */
export function readSynthesisOptions(
  input: Parameters,
  model: CatalogueModel,
  voices: CustomVoices,
): SynthesisOptions {
  const timbre = chooseVoice(voices, model, input, 'voice');
  const format = input.choice('format', formats, 'mp3');
  const opusBitRate = input.integer('bit_rate', { min: 6, max: 510 }, 32) * 1000;
  input.integer('seed', { min: 0, max: 65535 }, 0);
  input.object('hot_fix');
  input.flag('enable_aigc_tag');
  input.string('aigc_propagator');
  input.string('aigc_propagate_id');
  return {
    timbre,
    language: hintedLanguage(input),
    delivery: combine(deliveryOf(input.string('instruction') ?? ''), {
      volume: input.integer('volume', { min: 0, max: 100 }, 50) / 50,
      rate: input.number('rate', { min: 0.5, max: 2 }, 1),
      pitch: input.number('pitch', { min: 0.5, max: 2 }, 1),
    }),
    audio: {
      format,
      sampleRate: input.choice('sample_rate', sampleRates, 22050),
      channels: 1,
      ...(format === 'opus' && { bitRate: opusBitRate }),
    },
    ssml: input.flag('enable_ssml'),
    markdown: input.flag('enable_markdown_filter'),
    timed: input.flag('word_timestamp_enabled'),
  };
}

/** Only the first hint counts. */
function hintedLanguage(input: Parameters): Language | undefined {
  const [hint] = input.list('language_hints');
  if (hint === undefined) return undefined;
  const language = hintedLanguages.find((known) => known === hint);
  if (!language) throw input.wrong('language_hints', `must hold one of ${hintedLanguages.join(', ')}`);
  return language;
}

/** Usage of the voxa and alpha-audio models, the same over HTTP and on the socket. */
export function synthesisUsage({ characters, textTokens, audioTokens }: Meter, tokens: boolean): object {
  return tokens ? { input_tokens: textTokens, output_tokens: audioTokens } : { characters };
}

/** A word as these models report it: its place in the sentence, its times in milliseconds. */
export function writeWord(word: Word): object {
  return {
    text: word.text,
    begin_index: word.beginIndex,
    end_index: word.endIndex,
    begin_time: word.beginTime,
    end_time: word.endTime,
  };
}
