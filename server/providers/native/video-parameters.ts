import type { components } from '../../../generated/http.ts';
import { invalid } from '../../failure.ts';
import { familySeconds, secondsWords } from '../../models/media-rules.ts';
import type { MediaSource } from './video-media.ts';

/** Native parameters as they are sent: the known ones, and others as they came. */
export type GammaParameters = components['schemas']['GammaParameters'] & Record<string, unknown>;

const resolutions = ['480P', '720P', '1080P'] as const;
const standardSeconds = 5;
/** The longest is that of input video and output together. */
const [shortestSeconds, longestSeconds] = familySeconds.gamma;
/** A reference video has at least so many seconds. */
const minReferenceSeconds = 1;

/** The resolution that a generic `size` means, in either letter case. @throws Failure 400 for any other size */
export function resolutionOf(size: string): (typeof resolutions)[number] {
  const resolution = resolutions.find((one) => one === size.toUpperCase());
  if (resolution === undefined) throw invalid('size', `must be one of ${resolutions.join(', ')}.`);
  return resolution;
}

/**
 * The most seconds of video that can come of a request: its duration, the provider's default where it has none,
 * and for -1 all that the input leaves. `field` names the duration.
 *
 * @throws Failure 400 when the duration is out of range, or cannot fit the limit together with the input
 */
export function maxSeconds(
  { duration = standardSeconds }: GammaParameters,
  field: string,
  sources: readonly MediaSource[],
): number {
  if (
    duration !== -1 &&
    !(Number.isInteger(duration) && duration >= shortestSeconds && duration <= longestSeconds)
  )
    throw invalid(field, secondsWords(familySeconds.gamma));
  const clips = sources.filter(({ media }) => media.type === 'reference_video').length;
  const left = longestSeconds - clips * minReferenceSeconds;
  if (duration > left)
    throw invalid(
      field,
      `must be at most ${left} here: input video and output last at most ${longestSeconds} seconds together.`,
    );
  return duration === -1 ? left : duration;
}
