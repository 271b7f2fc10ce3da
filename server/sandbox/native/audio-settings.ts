import type { AudioFormat, AudioSettings } from '../speech/commands.ts';
import type { Parameters } from './parameters.ts';

const synthesisFormats: readonly AudioFormat[] = ['mp3', 'pcm', 'wav', 'opus'];
const synthesisSampleRates = [8000, 16000, 22050, 24000, 44100, 48000];

/** Reads the audio settings of a voxa or alpha-audio model. Throws `InvalidParameter`, as `readBetaAudio`. */
export function readSynthesisAudio(input: Parameters): AudioSettings {
  const format = input.choice('format', synthesisFormats, 'mp3');
  const opusBitRate = input.integer('bit_rate', { min: 6, max: 510 }, 32) * 1000;
  const sampleRate = input.choice('sample_rate', synthesisSampleRates, 22050);
  return { format, sampleRate, channels: 1, ...(format === 'opus' && { bitRate: opusBitRate }) };
}

const betaFormats: readonly AudioFormat[] = ['mp3', 'pcm', 'flac', 'wav'];
const betaSampleRates = [8000, 16000, 22050, 24000, 32000, 44100];
const betaBitRates = [32_000, 64_000, 128_000, 256_000];

/** Reads the audio settings of a beta model. */
export function readBetaAudio(input: Parameters): AudioSettings {
  const setting = input.object('audio_setting');
  setting?.flag('force_cbr');
  return {
    format: setting?.choice('format', betaFormats, 'mp3') ?? 'mp3',
    sampleRate: setting?.choice('sample_rate', betaSampleRates, 32000) ?? 32000,
    channels: (setting?.choice('channel', [1, 2], 1) ?? 1) === 2 ? 2 : 1,
    bitRate: setting?.choice('bitrate', betaBitRates, 128_000) ?? 128_000,
  };
}

/** Returns the audio settings of the alpha3 and legacy models, which have no choice. */
export function alphaAudio(isStream: boolean): AudioSettings {
  return { format: isStream ? 'pcm' : 'wav', sampleRate: 24000, channels: 1 };
}
