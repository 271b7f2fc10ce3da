/** What one Seedance model takes. */
export interface ModelBounds {
  /** Seconds, both ends included; -1 is taken besides. */
  seconds: readonly [number, number];
  /** -1: the model chooses. */
  defaultSeconds: number;
  resolutions: readonly string[];
  /** Most references of each kind. */
  images: number;
  videos: number;
  audios: number;
  /** Most seconds of all reference videos together, and of all reference audios. */
  clipSeconds: number;
  /** Whether audio may be the only input besides text. */
  audioAlone: boolean;
  /** Task types, QuickTime output and the flexible service tier came with 2.5. */
  modern: boolean;
}

const standard: ModelBounds = {
  seconds: [4, 15],
  defaultSeconds: 5,
  // 4k is there for accounts that it was enabled for, and this one is not among them.
  resolutions: ['480p', '720p', '1080p'],
  images: 9,
  videos: 3,
  audios: 3,
  clipSeconds: 15,
  audioAlone: false,
  modern: false,
};

const fast: ModelBounds = { ...standard, resolutions: ['480p', '720p'] };

const modern: ModelBounds = {
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

/** The bounds of a model id. */
export function boundsOf(model: string): ModelBounds {
  if (model.includes('-2-5-')) return modern;
  return model.includes('-fast-') ? fast : standard;
}
