import type { CatalogueModel } from '../../generated/catalogue.ts';
import type { JsonObject } from '../../openapi/tools/document.ts';
import { ProviderFailure } from '../../server/lib/failure.ts';
import { NativeError } from '../../server/sandbox/http/native-error.ts';
import { alphaAudio, readBetaAudio, readSynthesisAudio } from '../../server/sandbox/native/audio-settings.ts';
import { Parameters } from '../../server/sandbox/native/parameters.ts';
import type { AudioFormat, AudioSettings } from '../../server/sandbox/speech/commands.ts';

type Model = Pick<CatalogueModel, 'family' | 'protocols'>;

/** Reads the audio settings of native speech input. @throws ProviderFailure if the sandbox rejects them */
export function speechSettings(model: Model, input: JsonObject, isStream: boolean): AudioSettings {
  try {
    return readSettings(model, new Parameters(input, 'input'), isStream);
  } catch (error) {
    if (!(error instanceof NativeError)) throw error;
    throw new ProviderFailure(400, error.code, error.message);
  }
}

function readSettings({ family, protocols }: Model, input: Parameters, isStream: boolean): AudioSettings {
  if (family === 'beta') return readBetaAudio(input);
  return protocols.includes('multimodal') ? alphaAudio(isStream) : readSynthesisAudio(input);
}

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
