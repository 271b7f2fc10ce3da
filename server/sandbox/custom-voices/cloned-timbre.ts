import { invalidParameter } from '../http/native-error.ts';
import type { VoiceTimbre } from '../voices.ts';
import { fitTimbre } from './timbre-fitting.ts';
import { analyseVoice } from './voice-analysis.ts';
import type { Recording } from './wav-file.ts';

export interface CloningOptions {
  /** Seconds that the recording must have. */
  minSeconds: number;
  /** Seconds of it that are used. */
  used: number;
  /** Name of the field it came in. */
  field: string;
  /** Makes the voice as loud as the others instead of as loud as the recording. */
  normalizeVolume?: boolean;
}

/** Least length of voiced speech that gives a voice. */
const leastVoicedSeconds = 0.5;
/** The voiced level, root mean square, of an ordinary recording. */
const ordinaryLevel = 0.074;

/** A timbre with the pitch, brightness and loudness of a recording. Throws `InvalidParameter`. */
export function clonedTimbre({ samples, sampleRate }: Recording, options: CloningOptions): VoiceTimbre {
  const { minSeconds, used, field } = options;
  const seconds = samples.length / sampleRate;
  if (seconds < minSeconds) {
    const message = `${field}: the recording has ${seconds.toFixed(1)} seconds; at least ${minSeconds} are needed`;
    throw invalidParameter(message, field);
  }
  const heard = analyseVoice(samples.subarray(0, Math.round(used * sampleRate)), sampleRate);
  if (heard.voicedSeconds < leastVoicedSeconds) {
    throw invalidParameter(
      `${field}: no voice can be heard in the first ${used} seconds of the recording`,
      field,
    );
  }
  return fitTimbre({
    fundamental: heard.fundamental,
    brightness: heard.brightness,
    level: options.normalizeVolume ? 1 : Math.max(0.5, Math.min(1.6, heard.level / ordinaryLevel)),
  });
}
