import type { MediaFacts } from '../media/media-facts.ts';
import { TaskFailure } from '../tasks/task-board.ts';

const megabyte = 1024 * 1024;

/** Limits of a media file. Ranges are inclusive, sides are in pixels, ratio is width to height. */
export interface MediaLimits {
  formats: readonly string[];
  /** Maximum size in bytes. */
  maxBytes: number;
  side?: readonly [number, number];
  ratio?: readonly [number, number];
  /** Duration in seconds. */
  seconds?: readonly [number, number];
  /** Frames per second. */
  frameRate?: readonly [number, number];
  /** Allow only 480p and 720p. */
  smallVideoOnly?: boolean;
  /** Reject transparent images. */
  mustBeOpaque?: boolean;
}

export const assetLimits = {
  image: {
    formats: ['jpg', 'png', 'webp', 'bmp', 'tiff', 'gif', 'heic', 'heif'],
    // Must be smaller than 30 MB, unlike the other limits, which are inclusive.
    maxBytes: 30 * megabyte - 1,
    side: [300, 6000],
    ratio: [0.4, 2.5],
  },
  video: {
    formats: ['mp4', 'mov'],
    maxBytes: 50 * megabyte,
    side: [300, 6000],
    ratio: [0.4, 2.5],
    seconds: [2, 15],
    frameRate: [24, 60],
    smallVideoOnly: true,
  },
  audio: { formats: ['wav', 'mp3'], maxBytes: 15 * megabyte, seconds: [2, 15] },
} as const satisfies Record<string, MediaLimits>;

export const gammaLimits = {
  image: {
    formats: ['jpg', 'png', 'bmp', 'webp'],
    maxBytes: 20 * megabyte,
    side: [240, 8000],
    ratio: [1 / 8, 8],
    mustBeOpaque: true,
  },
  video: {
    formats: ['mp4', 'mov'],
    maxBytes: 100 * megabyte,
    side: [240, 4096],
    ratio: [1 / 8, 8],
    seconds: [1, 15],
  },
  audio: { formats: ['wav', 'mp3'], maxBytes: 15 * megabyte, seconds: [1, 15] },
} as const satisfies Record<string, MediaLimits>;

export const model3dLimits = {
  image: { formats: ['jpg', 'png'], maxBytes: 20 * megabyte, side: [20, 6000] },
} as const satisfies Record<string, MediaLimits>;

export const etaLimits = {
  image: { formats: ['jpg', 'png', 'webp'], maxBytes: 20 * megabyte },
  video: { formats: ['mp4', 'mov'], maxBytes: 100 * megabyte, seconds: [0, 8.7] },
} as const satisfies Record<string, MediaLimits>;

/** One frame at 24 frames per second. Film at 24000/1001 counts as 24. */
const secondsTolerance = 0.05;
const frameRateTolerance = 0.05;
const lineTolerance = 16;
const areaTolerance = 0.02;

/** Throws a `TaskFailure` for the first limit that the file exceeds. */
export function checkLimits(facts: MediaFacts, limits: MediaLimits): void {
  const createFailure = (aspect: string, message: string) =>
    new TaskFailure(`InvalidParameter.${aspect}`, message);
  if (!limits.formats.includes(facts.format))
    throw createFailure(
      'Format',
      `The format is ${facts.format}; it must be one of ${limits.formats.join(', ')}`,
    );
  if (facts.size > limits.maxBytes)
    throw createFailure('Size', `The file has ${facts.size} bytes; at most ${limits.maxBytes} are allowed`);
  if (facts.kind !== 'audio') {
    const { width, height } = facts;
    const { side, ratio } = limits;
    if (side && !(within(width, side) && within(height, side)))
      throw createFailure(
        'SideLength',
        `The size is ${width}x${height}; each side must have ${side.join(' to ')} pixels`,
      );
    if (ratio && !within(width / height, ratio, 0.001))
      throw createFailure(
        'AspectRatio',
        `Width to height is ${(width / height).toFixed(3)}; it must be ${ratio.join(' to ')}`,
      );
  }
  if (facts.kind === 'video') {
    if (limits.smallVideoOnly && !isSmallVideo(facts))
      throw createFailure(
        'Resolution',
        `The size is ${facts.width}x${facts.height}; only 480p and 720p are allowed`,
      );
    if (limits.frameRate && !within(facts.frameRate, limits.frameRate, frameRateTolerance))
      throw createFailure(
        'FrameRate',
        `The frame rate is ${facts.frameRate.toFixed(2)}; it must be ${limits.frameRate.join(' to ')} frames per second`,
      );
  }
  if (facts.kind !== 'image' && limits.seconds && !within(facts.seconds, limits.seconds, secondsTolerance))
    throw createFailure(
      'Duration',
      `The duration is ${facts.seconds.toFixed(2)} seconds; it must be ${limits.seconds.join(' to ')} seconds`,
    );
}

function within(value: number, [min, max]: readonly [number, number], tolerance = 0): boolean {
  return value >= min - tolerance && value <= max + tolerance;
}

/** Returns true for 480p or 720p, by the shorter side, or by the area if the aspect ratio is unusual. */
function isSmallVideo({ width, height }: { width: number; height: number }): boolean {
  return [480, 720].some((lines) => {
    const area = (lines * lines * 16) / 9;
    return (
      Math.abs(Math.min(width, height) - lines) <= lineTolerance ||
      Math.abs(width * height - area) <= area * areaTolerance
    );
  });
}
