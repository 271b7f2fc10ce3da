import { extname } from 'node:path';
import type { SpeechRequest } from '../speech.ts';
import type { Options } from './command-line.ts';
import { UsageError } from './usage-error.ts';

type Format = NonNullable<SpeechRequest['response_format']>;

const knownFormats: Readonly<Record<Format, readonly string[]>> = {
  wav: ['.wav'],
  mp3: ['.mp3'],
  pcm: ['.pcm', '.raw'],
  opus: ['.opus', '.ogg'],
  flac: ['.flac'],
};

export const allFormats = Object.keys(knownFormats) as Format[];

/** Returns the requested format, otherwise that of the file extension, otherwise undefined. */
export function readFormat<Known extends Format>(
  requested: string | undefined,
  output: string,
  formats: readonly Known[],
): Known | undefined {
  const extension = extname(output).toLowerCase();
  const wanted = requested ?? allFormats.find((name) => knownFormats[name].includes(extension));
  const format = formats.find((name) => name === wanted);
  if (format === undefined && wanted !== undefined)
    throw new UsageError(
      `${requested === undefined ? `the extension of ${output}` : '--format'} must be one of ${formats.join(', ')}.`,
    );
  return format;
}

export function readNumber(options: Options, name: 'speed' | 'sample-rate'): number | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) throw new UsageError(`--${name} must be a number.`);
  return number;
}
