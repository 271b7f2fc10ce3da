import { invalid } from '../lib/failure.ts';

/** Relative tolerances of a size in pixels: public clients use 1024x1792 for 9:16 at 1080 lines. */
const linesTolerance = 0.1;
const ratioTolerance = 0.04;

/** Resolutions such as `720p` or `4k`, and aspect ratios such as `16:9`. */
interface FrameLimits<Resolution extends string, Ratio extends string> {
  resolutions: readonly Resolution[];
  ratios: readonly Ratio[];
}

/** Reads a size that is a width and height as the resolution and ratio near it, if the model has them. Undefined for any other size. */
export function nearestFrame<Resolution extends string, Ratio extends string>(
  size: string | undefined,
  { resolutions, ratios }: FrameLimits<Resolution, Ratio>,
): { resolution: Resolution | undefined; ratio: Ratio | undefined } | undefined {
  const [, width, height] = /^(\d{1,5})\s*[x*×]\s*(\d{1,5})$/i.exec(size?.trim() ?? '') ?? [];
  if (width === undefined || height === undefined) return undefined;
  const lines = Math.min(Number(width), Number(height));
  const shape = Number(width) / Number(height);
  return {
    resolution: resolutions.find((one) => isNear(lines, linesOf(one), linesTolerance)),
    ratio: ratios.find((one) => isNear(shape, shapeOf(one), ratioTolerance)),
  };
}

/**
 * Reads a size that is a width and height, such as `1280x720`. Undefined for any other size.
 *
 * @throws Failure 400 if no resolution or ratio is near
 */
export function frameOfSize<Resolution extends string, Ratio extends string>(
  size: string | undefined,
  limits: FrameLimits<Resolution, Ratio>,
): { resolution: Resolution; ratio: Ratio } | undefined {
  const frame = nearestFrame(size, limits);
  if (frame === undefined) return undefined;
  const { resolution, ratio } = frame;
  if (resolution !== undefined && ratio !== undefined) return { resolution, ratio };
  const { resolutions, ratios } = limits;
  // Not in a constant: the first use of Intl loads its data, 2 % of the CPU time of a start.
  const anyOf = new Intl.ListFormat('en', { type: 'disjunction' });
  const known = anyOf.format(resolutions.map((one) => String(linesOf(one))));
  throw invalid(
    'size',
    `must have about ${known} lines and a ratio of ${ratios.join(', ')}, but is ${size?.trim()}.`,
  );
}

function linesOf(resolution: string): number {
  return resolution === '4k' ? 2160 : Number.parseInt(resolution, 10);
}

function shapeOf(ratio: string): number {
  const [width = 1, height = 1] = ratio.split(':').map(Number);
  return width / height;
}

function isNear(value: number, wanted: number, tolerance: number): boolean {
  return Math.abs(value - wanted) <= wanted * tolerance;
}
