import { invalidParameter } from '../http/native-error.ts';
import type { VoiceTimbre } from '../voices.ts';
import { fitTimbre } from './timbre-fitting.ts';
import { analyzeVoice } from './voice-analysis.ts';
import type { Recording } from './wav-file.ts';

export interface CloningOptions {
  /** Minimum length of the recording. */
  minSeconds: number;
  /** Maximum length of the recording that is analyzed, in seconds. */
  usedSeconds: number;
  /** Name of the field with the recording. */
  field: string;
  /** Use the common level of all voices instead of the level of the recording. */
  normalizeVolume?: boolean;
}

/** Minimum length of voiced speech for cloning. */
const minVoicedSeconds = 0.5;
/** Root mean square of the voiced parts of a typical recording. */
const typicalLevel = 0.074;

/** Derives a timbre from the pitch, brightness and level of a recording. Throws `InvalidParameter`. */
export function createClonedTimbre({ samples, sampleRate }: Recording, options: CloningOptions): VoiceTimbre {
  const { minSeconds, usedSeconds, field } = options;
  const seconds = samples.length / sampleRate;
  if (seconds < minSeconds) {
    const message = `${field}: the recording is ${seconds.toFixed(1)} seconds long; at least ${minSeconds} seconds are required`;
    throw invalidParameter(message, field);
  }
  const analysis = analyzeVoice(samples.subarray(0, Math.round(usedSeconds * sampleRate)), sampleRate);
  if (analysis.voicedSeconds < minVoicedSeconds) {
    throw invalidParameter(
      `${field}: no voice was detected in the first ${usedSeconds} seconds of the recording`,
      field,
    );
  }
  return fitTimbre({
    fundamental: analysis.fundamental,
    brightness: analysis.brightness,
    level: options.normalizeVolume ? 1 : Math.max(0.5, Math.min(1.6, analysis.level / typicalLevel)),
  });
}
