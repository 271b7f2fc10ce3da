import type { MediaFacts } from '../media/media-facts.ts';
import { TaskFailure } from '../tasks/task-board.ts';

const megabyte = 1024 * 1024;

/** What a file must be like. Ranges include both ends; sides are in pixels, ratio is width to height. */
export interface MediaLimits {
  formats: readonly string[];
  /** Most bytes. */
  size: number;
  side?: readonly [number, number];
  ratio?: readonly [number, number];
  /** Length in seconds. */
  seconds?: readonly [number, number];
  /** Frames a second. */
  frameRate?: readonly [number, number];
  /** Only 480p and 720p. */
  smallVideo?: boolean;
  /** Nothing may be seen through. */
  opaque?: boolean;
}

export const assetLimits = {
  image: {
    formats: ['jpg', 'png', 'webp', 'bmp', 'tiff', 'gif', 'heic', 'heif'],
    // Under 30 MB, where the others are at most.
    size: 30 * megabyte - 1,
    side: [300, 6000],
    ratio: [0.4, 2.5],
  },
  video: {
    formats: ['mp4', 'mov'],
    size: 50 * megabyte,
    side: [300, 6000],
    ratio: [0.4, 2.5],
    seconds: [2, 15],
    frameRate: [24, 60],
    smallVideo: true,
  },
  audio: { formats: ['wav', 'mp3'], size: 15 * megabyte, seconds: [2, 15] },
} as const satisfies Record<string, MediaLimits>;

export const gammaLimits = {
  image: {
    formats: ['jpg', 'png', 'bmp', 'webp'],
    size: 20 * megabyte,
    side: [240, 8000],
    ratio: [1 / 8, 8],
    opaque: true,
  },
  video: {
    formats: ['mp4', 'mov'],
    size: 100 * megabyte,
    side: [240, 4096],
    ratio: [1 / 8, 8],
    seconds: [1, 15],
  },
  audio: { formats: ['wav', 'mp3'], size: 15 * megabyte, seconds: [1, 15] },
} as const satisfies Record<string, MediaLimits>;

export const model3dLimits = {
  image: { formats: ['jpg', 'png'], size: 20 * megabyte, side: [20, 6000] },
} as const satisfies Record<string, MediaLimits>;

export const etaLimits = {
  image: { formats: ['jpg', 'png', 'webp'], size: 20 * megabyte },
  video: { formats: ['mp4', 'mov'], size: 100 * megabyte, seconds: [0, 8.7] },
} as const satisfies Record<string, MediaLimits>;

/** A frame of tolerance at 24 frames a second; film at 24000/1001 counts as 24. */
const secondsTolerance = 0.05;
const frameRateTolerance = 0.05;
const lineTolerance = 16;
const areaTolerance = 0.02;

/** Throws a `TaskFailure` that names the first limit which the file breaks. */
export function checkLimits(facts: MediaFacts, limits: MediaLimits): void {
  const wrong = (aspect: string, message: string) => new TaskFailure(`InvalidParameter.${aspect}`, message);
  if (!limits.formats.includes(facts.format))
    throw wrong('Format', `The format is ${facts.format}; it must be one of ${limits.formats.join(', ')}`);
  if (facts.size > limits.size)
    throw wrong('Size', `The file has ${facts.size} bytes; at most ${limits.size} are allowed`);
  if (facts.kind !== 'audio') {
    const { width, height } = facts;
    const { side, ratio } = limits;
    if (side && !(within(width, side) && within(height, side)))
      throw wrong(
        'SideLength',
        `The size is ${width}x${height}; each side must have ${side.join(' to ')} pixels`,
      );
    if (ratio && !within(width / height, ratio, 0.001))
      throw wrong(
        'AspectRatio',
        `Width to height is ${(width / height).toFixed(3)}; it must be ${ratio.join(' to ')}`,
      );
  }
  if (facts.kind === 'video') {
    if (limits.smallVideo && !isSmall(facts))
      throw wrong('Resolution', `The size is ${facts.width}x${facts.height}; only 480p and 720p are allowed`);
    if (limits.frameRate && !within(facts.frameRate, limits.frameRate, frameRateTolerance))
      throw wrong(
        'FrameRate',
        `It has ${facts.frameRate.toFixed(2)} frames a second; it must have ${limits.frameRate.join(' to ')}`,
      );
  }
  if (facts.kind !== 'image' && limits.seconds && !within(facts.seconds, limits.seconds, secondsTolerance))
    throw wrong(
      'Duration',
      `It lasts ${facts.seconds.toFixed(2)} seconds; it must last ${limits.seconds.join(' to ')}`,
    );
}

function within(value: number, [min, max]: readonly [number, number], tolerance = 0): boolean {
  return value >= min - tolerance && value <= max + tolerance;
}

/** 480p or 720p: by the shorter side, or by the area where the picture is nearly square. */
function isSmall({ width, height }: { width: number; height: number }): boolean {
  return [480, 720].some((lines) => {
    const area = (lines * lines * 16) / 9;
    return (
      Math.abs(Math.min(width, height) - lines) <= lineTolerance ||
      Math.abs(width * height - area) <= area * areaTolerance
    );
  });
}
