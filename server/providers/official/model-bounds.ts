import { familySeconds, type SecondsRange } from '../../models/video-options.ts';

export interface ModelBounds {
  /** Shortest and longest video in seconds. -1 is also valid. */
  seconds: SecondsRange;
  /** Maximum seconds of a request without a length. */
  defaultSeconds: number;
  resolutions: readonly string[];
  /** Maximum number of references of each kind and in total. */
  image: number;
  video: number;
  audio: number;
  files: number;
  /** Whether audio may be the only medium. */
  audioAlone: boolean;
  /** Whether the model supports the options of 2.5: task types, QuickTime output and the flexible service tier. */
  modern: boolean;
}

const standard: ModelBounds = {
  seconds: familySeconds.seedance20,
  defaultSeconds: 5,
  // Only some accounts have 4k, which the provider checks.
  resolutions: ['480p', '720p', '1080p', '4k'],
  image: 9,
  video: 3,
  audio: 3,
  files: 12,
  audioAlone: false,
  modern: false,
};

const fast: ModelBounds = { ...standard, resolutions: ['480p', '720p'] };

const modern: ModelBounds = {
  seconds: familySeconds.seedance25,
  // Without a length, the model chooses one.
  defaultSeconds: 30,
  resolutions: ['480p', '720p', '1080p'],
  image: 30,
  video: 10,
  audio: 10,
  files: 50,
  audioAlone: true,
  modern: true,
};

/** A model that only a channel lists: accepts the values of all models of the family. */
const unknown: ModelBounds = {
  ...modern,
  seconds: [1, 30],
  resolutions: [...modern.resolutions, '4k'],
};

export function boundsOf(model: string): ModelBounds {
  const version = /^(?:epsilon|zeta)-delta-(2-0-fast|2-0|2-5)-/.exec(model)?.[1];
  if (version === '2-5') return modern;
  if (version === '2-0') return standard;
  return version === '2-0-fast' ? fast : unknown;
}
