/** Limits of a Seedance model. */
export interface ModelLimits {
  /** Inclusive range in seconds. -1 is also allowed. */
  seconds: readonly [number, number];
  /** -1: the model chooses. */
  defaultSeconds: number;
  resolutions: readonly string[];
  /** Maximum number of references of each kind. */
  images: number;
  videos: number;
  audios: number;
  /** Maximum total duration of all reference videos, and of all reference audio files. */
  clipSeconds: number;
  /** Allow audio as the only media. */
  audioAlone: boolean;
  /** Supports task types, QuickTime output and the flexible service tier, which were added in 2.5. */
  modern: boolean;
}

const standard: ModelLimits = {
  seconds: [4, 15],
  defaultSeconds: 5,
  // 4k is only available to accounts for which it is enabled, which does not include this one.
  resolutions: ['480p', '720p', '1080p'],
  images: 9,
  videos: 3,
  audios: 3,
  clipSeconds: 15,
  audioAlone: false,
  modern: false,
};

const fast: ModelLimits = { ...standard, resolutions: ['480p', '720p'] };

const modern: ModelLimits = {
  seconds: [4, 30],
  defaultSeconds: -1,
  resolutions: ['480p', '720p', '1080p'],
  images: 30,
  videos: 10,
  audios: 10,
  clipSeconds: Infinity,
  audioAlone: true,
  modern: true,
};

/** Returns the limits of a model. */
export function limitsForModel(model: string): ModelLimits {
  if (model.includes('-2-5-')) return modern;
  return model.includes('-fast-') ? fast : standard;
}
