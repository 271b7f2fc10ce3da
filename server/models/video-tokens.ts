/** Most pixels of a frame by resolution, over all aspect ratios. */
const maxPixels: Readonly<Record<string, number>> = {
  '480p': 450_000,
  '720p': 960_000,
  '1080p': 2_130_000,
  '4k': 8_600_000,
};
const pixelsPerToken = 1024;

/** Returns the most pixels of a frame. An unknown resolution has those of the highest one. */
function pixelsOf(resolution: string): number {
  return maxPixels[resolution.toLowerCase()] ?? Math.max(...Object.values(maxPixels));
}

/** Returns the upper bound of the completion tokens of a video: one for each 1,024 pixels of its frames. */
export function maxVideoTokens(resolution: string, seconds: number, framesPerSecond: number): number {
  return Math.ceil((pixelsOf(resolution) * framesPerSecond * seconds) / pixelsPerToken);
}

/** Returns the one of several resolutions that has the most pixels. */
export function highestResolution(resolutions: readonly string[]): string {
  return resolutions.reduce((highest, one) => (pixelsOf(one) > pixelsOf(highest) ? one : highest));
}

/** The properties of a video that the bound of its tokens depends on. Absent: unknown. */
export interface VideoShape {
  resolution?: string | undefined;
  duration?: number | undefined;
  /** The frames of input videos count, too, so that the tokens are not proportional to the duration. */
  reference_video?: boolean | undefined;
}

/** Converts the upper bound of the completion tokens of a video to another resolution and duration. */
export function convertVideoTokens(tokens: number, from: VideoShape, to: VideoShape): number {
  const pixels =
    from.resolution === undefined || to.resolution === undefined
      ? 1
      : pixelsOf(to.resolution) / pixelsOf(from.resolution);
  const length =
    from.reference_video === true || !from.duration || to.duration === undefined
      ? 1
      : to.duration / from.duration;
  return Math.ceil(tokens * pixels * length);
}
