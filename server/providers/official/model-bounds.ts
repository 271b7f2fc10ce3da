import { familySeconds, type SecondsRange } from '../../models/media-rules.ts';

/** What one Seedance model takes. */
export interface ModelBounds {
  /** Shortest and longest video in seconds; -1 is taken besides. */
  seconds: SecondsRange;
  /** Most seconds that can come of a request without a length. */
  defaultSeconds: number;
  resolutions: readonly string[];
  /** Most references of each kind, and of all kinds together. */
  images: number;
  videos: number;
  audios: number;
  files: number;
  /** Whether audio may be the only medium. */
  audioAlone: boolean;
  /** Task types, QuickTime output and the flexible service tier came with 2.5. */
  modern: boolean;
}

const standard: ModelBounds = {
  seconds: familySeconds.seedance20,
  defaultSeconds: 5,
  // Only some accounts have 4k; the provider knows which.
  resolutions: ['480p', '720p', '1080p', '4k'],
  images: 9,
  videos: 3,
  audios: 3,
  files: 12,
  audioAlone: false,
  modern: false,
};

const fast: ModelBounds = { ...standard, resolutions: ['480p', '720p'] };

const modern: ModelBounds = {
  seconds: familySeconds.seedance25,
  // Without a length the model may choose one.
  defaultSeconds: 30,
  resolutions: ['480p', '720p', '1080p'],
  images: 30,
  videos: 10,
  audios: 10,
  files: 50,
  audioAlone: true,
  modern: true,
};

/** A model that only a channel knows: what any of the family takes. */
const unknown: ModelBounds = {
  ...modern,
  seconds: [1, 30],
  resolutions: [...modern.resolutions, '4k'],
};

/** The bounds of a model id. */
export function boundsOf(model: string): ModelBounds {
  const version = /^(?:epsilon|zeta)-delta-(2-0-fast|2-0|2-5)-/.exec(model)?.[1];
  if (version === '2-5') return modern;
  if (version === '2-0') return standard;
  return version === '2-0-fast' ? fast : unknown;
}
