import type { CatalogueModel } from '../../../generated/catalogue.ts';
import { invalid } from '../../lib/failure.ts';
import { defined, isObject } from '../../lib/json.ts';
import { checkNativeOptions } from './speech-options.ts';

export type AudioFormat = 'mp3' | 'wav' | 'pcm' | 'opus' | 'flac';

/** A request of the standard speech route. */
export interface SpeechInput {
  text: string;
  voice: string;
  format?: AudioFormat | undefined;
  speed?: number | undefined;
  instructions?: string | undefined;
  /** `audio` streams bytes, `events` streams native events unchanged. */
  streaming: 'no' | 'audio' | 'events';
  /** `extra_body.input` and `extra_body.parameters`. */
  extraInput: Readonly<Record<string, unknown>>;
  extraParameters?: Readonly<Record<string, unknown>> | undefined;
}

/** A native request, and the format of its audio. */
export interface NativeSpeechRequest {
  /** `inference` uses the duplex socket, because the model has no HTTP route. */
  route: 'synthesizer' | 'multimodal' | 'inference';
  body: { model: string; input: Record<string, unknown>; parameters?: Record<string, unknown> };
  format: AudioFormat;
}

export const speechPaths = {
  synthesizer: '/api/v1/services/audio/tts/SpeechSynthesizer',
  multimodal: '/api/v1/services/aigc/multimodal-generation/generation',
} as const;

/** Translates the standard request to the model's native one. Standard fields override `extra_body`. @throws Failure 400 */
export function toNative(model: CatalogueModel, input: SpeechInput): NativeSpeechRequest {
  if (model.protocols.includes('synthesizer')) return toSynthesizer('synthesizer', model, input);
  if (model.protocols.includes('inference')) return toSynthesizer('inference', model, input);
  return model.family === 'beta' ? toBeta(model, input) : toAlpha(model, input);
}

function toSynthesizer(
  route: 'synthesizer' | 'inference',
  model: CatalogueModel,
  input: SpeechInput,
): NativeSpeechRequest {
  checkNativeOptions(model.id, 'synthesizer', input.extraInput);
  requireNativeSpeed(input.speed);
  const { format: extraFormat } = input.extraInput;
  const format = chooseFormat(model, input, 'format', extraFormat, ['mp3', 'wav', 'pcm', 'opus'], 'mp3');
  return request(route, model, input, format, {
    ...input.extraInput,
    text: input.text,
    voice: input.voice,
    format,
    ...defined({ rate: input.speed, instruction: input.instructions }),
  });
}

function toAlpha(model: CatalogueModel, input: SpeechInput): NativeSpeechRequest {
  checkNativeOptions(model.id, 'alpha', input.extraInput);
  if (input.speed !== undefined && input.speed !== 1) {
    throw invalid('speed', `must be 1 or omitted for ${model.id}.`);
  }
  const only = input.streaming === 'no' ? 'wav' : 'pcm';
  const format = chooseFormat(model, input, 'format', input.extraInput.format, [only], only);
  return request('multimodal', model, input, format, {
    ...input.extraInput,
    text: input.text,
    voice: input.voice,
    ...defined({ instructions: input.instructions }),
  });
}

function toBeta(model: CatalogueModel, input: SpeechInput): NativeSpeechRequest {
  checkNativeOptions(model.id, 'beta', input.extraInput);
  requireNativeSpeed(input.speed);
  const { sample_rate: sampleRate, ...extra } = input.extraInput;
  const audio = asObject(extra.audio_setting);
  const formats = input.streaming === 'no' ? betaFormats : betaFormats.filter((format) => format !== 'wav');
  const format = chooseFormat(model, input, 'audio_setting.format', audio.format, formats, 'mp3');
  const delivery =
    input.streaming === 'no'
      ? // A file behind a URL can be streamed. Hexadecimal audio in JSON cannot.
        { output_format: 'url' }
      : input.streaming === 'audio'
        ? // By default the last event repeats the whole audio.
          { stream_options: { ...asObject(extra.stream_options), exclude_aggregated_audio: true } }
        : {};
  return request('multimodal', model, input, format, {
    ...extra,
    text: input.text,
    voice_setting: {
      ...asObject(extra.voice_setting),
      voice_id: input.voice,
      ...defined({ speed: input.speed }),
    },
    audio_setting: { ...audio, ...defined({ sample_rate: sampleRate }), format },
    ...delivery,
  });
}

const betaFormats: readonly AudioFormat[] = ['mp3', 'wav', 'pcm', 'flac'];

function request(
  route: NativeSpeechRequest['route'],
  model: CatalogueModel,
  { extraParameters }: SpeechInput,
  format: AudioFormat,
  input: Record<string, unknown>,
): NativeSpeechRequest {
  const parameters = extraParameters && { ...extraParameters };
  return { route, format, body: { model: model.id, input, ...defined({ parameters }) } };
}

function chooseFormat(
  model: CatalogueModel,
  input: SpeechInput,
  name: string,
  extra: unknown,
  possible: readonly AudioFormat[],
  otherwise: AudioFormat,
): AudioFormat {
  const requested = input.format ?? extra ?? otherwise;
  const format = possible.find((one) => one === requested);
  if (format !== undefined) return format;
  const manner = input.streaming === 'no' ? 'without streaming' : 'while streaming';
  const field = input.format === undefined ? `extra_body.input.${name}` : 'response_format';
  throw invalid(field, `must be one of ${possible.join(', ')} for ${model.id} ${manner}.`);
}

function requireNativeSpeed(speed: number | undefined): void {
  if (speed === undefined || (speed >= 0.5 && speed <= 2)) return;
  throw invalid('speed', 'must be between 0.5 and 2 for this model.');
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}
