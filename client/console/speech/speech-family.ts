import type { Model } from '../../index.ts';
import type { Contract, Schema } from '../contract/contract.ts';

/** Path of the option that requests the time of each word. */
export const wordTimes = 'extra_body.input.word_timestamp_enabled';

/** A field of the form: its path in the body, and its texts if they differ from those of the contract. */
interface OptionField {
  path: string;
  label: string;
  hint?: string;
}

/** The options of the models of one protocol. The catalog names the protocol, the contract its options. */
export interface SpeechFamily {
  name: 'synthesizer' | 'alpha' | 'beta';
  /** Path of the allowed formats in the native input. Undefined for models with one format. */
  formats?: readonly string[];
  /** Format of a file for which the body names none. */
  defaultFormat: 'mp3' | 'wav';
  /** Path of the sample rate in the body. Undefined if the models have one rate. */
  sampleRate?: string;
  hasSpeed: boolean;
  /** Whether a file can be returned with the time of each word. */
  hasWordTimes: boolean;
  options: readonly OptionField[];
}

const native = (name: string, label: string, hint?: string): OptionField => ({
  path: `extra_body.input.${name}`,
  label,
  ...(hint && { hint }),
});

const synthesizer: SpeechFamily = {
  name: 'synthesizer',
  defaultFormat: 'mp3',
  formats: ['format'],
  sampleRate: 'extra_body.input.sample_rate',
  hasSpeed: true,
  hasWordTimes: true,
  options: [
    native('sample_rate', 'Sample rate'),
    native('volume', 'Volume'),
    native('pitch', 'Pitch'),
    native('seed', 'Seed'),
    native('enable_ssml', 'Read the text as SSML'),
  ],
};

const alpha: SpeechFamily = {
  name: 'alpha',
  defaultFormat: 'wav',
  hasSpeed: false,
  hasWordTimes: false,
  options: [native('language_type', 'Language', 'Language of the text.')],
};

const beta: SpeechFamily = {
  name: 'beta',
  defaultFormat: 'mp3',
  formats: ['audio_setting', 'format'],
  sampleRate: 'extra_body.input.audio_setting.sample_rate',
  hasSpeed: true,
  hasWordTimes: false,
  options: [
    native('voice_setting.emotion', 'Emotion'),
    native('voice_setting.pitch', 'Pitch'),
    native('audio_setting.sample_rate', 'Sample rate', 'In Hz.'),
  ],
};

export function familyOf(model: Model | undefined): SpeechFamily {
  if (!model?.protocols.includes('multimodal')) return synthesizer;
  return model.owned_by === 'beta' ? beta : alpha;
}

/** Whether the model accepts instructions for the speaking style. */
export const hasInstructions = (model: string): boolean => model.includes('-instruct-');

/** Returns the schema of a speech request, in which the native options have the schemas of the native routes. */
export function speechSchema(contract: Contract): Schema {
  const body = contract.body('createSpeech');
  const input = contract.resolve({
    allOf: [contract.component('MultimodalSpeechInput'), contract.component('SynthesisOptions')],
  });
  const { minimum, maximum } = contract.at(input, ['rate']) ?? {};
  const speed = { ...body.properties?.speed, minimum, maximum, description: 'Factor of the speaking rate.' };
  return {
    ...body,
    properties: {
      ...body.properties,
      speed,
      extra_body: { type: 'object', properties: { input } },
    },
  };
}

/** Returns the formats of a complete file. */
export function fileFormats(contract: Contract, { formats }: SpeechFamily): readonly string[] {
  if (formats === undefined) return ['wav'];
  const input = contract.at(speechSchema(contract), ['extra_body', 'input']) ?? {};
  // PCM is for streams: a file without a header cannot be played.
  return (contract.at(input, formats)?.enum ?? []).map(String).filter((format) => format !== 'pcm');
}
