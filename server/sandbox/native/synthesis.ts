import type { CatalogueModel } from '../../../generated/catalogue.ts';
import type { Meter } from '../billing.ts';
import type { CustomVoices } from '../custom-voices/custom-voices.ts';
import type { Language } from '../language.ts';
import { combineProsody, prosodyFromInstructions } from '../prosody.ts';
import type { Word } from '../speech/commands.ts';
import { readSynthesisAudio } from './audio-settings.ts';
import type { Parameters } from './parameters.ts';
import type { SpeechSettings } from './speech.ts';
import { readVoice } from './voice-fields.ts';

const supportedHints: readonly Language[] = [
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

/** Options of the voxa and alpha-audio models, the same over HTTP and WebSocket. */
export interface SynthesisOptions extends SpeechSettings {
  /** Parse the text as SSML. */
  isSsml: boolean;
  /** Do not speak markdown markup. */
  markdown: boolean;
  /** Report word times. */
  reportsWordTimes: boolean;
}

/** Reads the options. Throws `InvalidParameter`. */
export function readSynthesisOptions(
  input: Parameters,
  model: CatalogueModel,
  voices: CustomVoices,
): SynthesisOptions {
  const timbre = readVoice(voices, model, input, 'voice');
  const audio = readSynthesisAudio(input);
  input.integer('seed', { min: 0, max: 65535 }, 0);
  input.object('hot_fix');
  input.flag('enable_aigc_tag');
  input.string('aigc_propagator');
  input.string('aigc_propagate_id');
  return {
    timbre,
    language: readLanguageHint(input),
    prosody: combineProsody(prosodyFromInstructions(input.string('instruction') ?? ''), {
      volume: input.integer('volume', { min: 0, max: 100 }, 50) / 50,
      rate: input.number('rate', { min: 0.5, max: 2 }, 1),
      pitch: input.number('pitch', { min: 0.5, max: 2 }, 1),
    }),
    audio,
    isSsml: input.flag('enable_ssml'),
    markdown: input.flag('enable_markdown_filter'),
    reportsWordTimes: input.flag('word_timestamp_enabled'),
  };
}

/** Only the first hint is used. */
function readLanguageHint(input: Parameters): Language | undefined {
  const [hint] = input.list('language_hints');
  if (hint === undefined) return undefined;
  const language = supportedHints.find((known) => known === hint);
  if (!language) throw input.invalid('language_hints', `must contain one of ${supportedHints.join(', ')}`);
  return language;
}

/** Returns the usage of the voxa and alpha-audio models, the same over HTTP and WebSocket. */
export function synthesisUsage({ characters, textTokens, audioTokens }: Meter, tokens: boolean): object {
  return tokens ? { input_tokens: textTokens, output_tokens: audioTokens } : { characters };
}

/** Formats a word with its position in the sentence and its times in milliseconds. */
export function formatWord(word: Word): object {
  return {
    text: word.text,
    begin_index: word.beginIndex,
    end_index: word.endIndex,
    begin_time: word.beginTime,
    end_time: word.endTime,
  };
}
