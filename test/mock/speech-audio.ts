import type { CatalogueModel } from '../../generated/catalogue.ts';
import { isObject, type Json, type JsonObject } from '../../openapi/tools/document.ts';
import type { AudioFormat, AudioSettings } from '../../server/sandbox/speech/commands.ts';

/** Alpha models have this rate only. */
const alphaRate = 24_000;

/** Returns the audio settings of native speech input, with the defaults of the model. The input must be valid. */
export function speechSettings(
  { family, protocols }: Pick<CatalogueModel, 'family' | 'protocols'>,
  format: AudioFormat,
  input: JsonObject,
): AudioSettings {
  if (family === 'beta') {
    const { sample_rate, bitrate, channel } = isObject(input.audio_setting) ? input.audio_setting : {};
    return {
      format,
      sampleRate: numberOr(32_000, sample_rate),
      channels: channel === 2 ? 2 : 1,
      bitRate: numberOr(128_000, bitrate),
    };
  }
  if (protocols.includes('multimodal')) return { format, sampleRate: alphaRate, channels: 1 };
  const bitRate = format === 'opus' ? { bitRate: numberOr(32, input.bit_rate) * 1000 } : {};
  return { format, sampleRate: numberOr(22_050, input.sample_rate), channels: 1, ...bitRate };
}

const numberOr = (standard: number, value: Json | undefined) =>
  typeof value === 'number' ? value : standard;

const sampleName = /^speech-(mp3|wav|pcm|opus|flac)-(\d{4,5})-([12])-(\d{1,6})\.\w+$/;
const extensions: Readonly<Partial<Record<AudioFormat, string>>> = { opus: 'ogg' };

/** Returns the name of the sample on the mock, which contains its settings. */
export const sampleFileName = ({ format, sampleRate, channels, bitRate = 0 }: AudioSettings): string =>
  `speech-${format}-${sampleRate}-${channels}-${bitRate}.${extensions[format] ?? format}`;

/** Parses the name of a sample. Undefined for the name of any other file. */
export function settingsOfName(name: string): AudioSettings | undefined {
  const [, format, rate, channels, bitRate] = sampleName.exec(name) ?? [];
  if (format === undefined) return undefined;
  return {
    format: format as AudioFormat,
    sampleRate: Number(rate),
    channels: channels === '2' ? 2 : 1,
    ...(bitRate !== '0' && { bitRate: Number(bitRate) }),
  };
}
