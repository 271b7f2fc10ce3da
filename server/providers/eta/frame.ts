import { invalid } from '../../lib/failure.ts';
import { agreedValue, type GenericVideoRequest, ratioFields } from '../video.ts';

const resolutions = ['480p', '720p', '1080p'] as const;
const ratios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'] as const;

type Resolution = (typeof resolutions)[number];
type Ratio = (typeof ratios)[number];

export interface Frame {
  resolution?: Resolution;
  aspect_ratio?: Ratio;
}

/** Relative tolerances of a size in pixels: public clients use 1024x1792 for 9:16 at 1080 lines. */
const linesTolerance = 0.1;
const ratioTolerance = 0.04;

/**
 * Reads the resolution and aspect ratio from eta's own fields, a ratio in `metadata`, or a size.
 *
 * @throws Failure 400 for a value that the provider does not support, and for fields that differ
 */
export function etaFrame(request: GenericVideoRequest): Frame {
  const { size, resolution } = request;
  const fromSize = size === undefined ? {} : frameOf(size);
  const requestedResolution = agreedValue([
    { field: 'size', value: fromSize.resolution },
    {
      field: 'resolution',
      value: resolution === undefined ? undefined : resolutionOf('resolution', resolution),
    },
  ]);
  const requestedRatio = agreedValue([
    { field: 'size', value: fromSize.aspect_ratio },
    ...ratioFields(request).map(({ field, value }) => ({
      field,
      value: value === undefined ? undefined : ratioOf(field, value),
    })),
  ]);
  return {
    ...(requestedResolution !== undefined && { resolution: requestedResolution.value }),
    ...(requestedRatio !== undefined && { aspect_ratio: requestedRatio.value }),
  };
}

function frameOf(size: string): Frame {
  const [, width, height] = /^(\d{1,5})\s*[x*×]\s*(\d{1,5})$/i.exec(size.trim()) ?? [];
  if (width === undefined || height === undefined) return { resolution: resolutionOf('size', size) };
  const lines = Math.min(Number(width), Number(height));
  const shape = Number(width) / Number(height);
  const resolution = resolutions.find((one) => isNear(lines, Number.parseInt(one, 10), linesTolerance));
  const aspect_ratio = ratios.find((one) => isNear(shape, shapeOf(one), ratioTolerance));
  if (resolution !== undefined && aspect_ratio !== undefined) return { resolution, aspect_ratio };
  throw invalid(
    'size',
    `must have about 480, 720 or 1080 lines and a ratio of ${ratios.join(', ')}, but is ${size}.`,
  );
}

function resolutionOf(field: string, text: string): Resolution {
  const found = resolutions.find((one) => one === text.trim().toLowerCase());
  if (found !== undefined) return found;
  throw invalid(field, `must be one of ${resolutions.join(', ')}.`);
}

function ratioOf(field: string, text: string): Ratio {
  const found = ratios.find((one) => one === text);
  if (found !== undefined) return found;
  throw invalid(field, `must be one of ${ratios.join(', ')}.`);
}

function shapeOf(ratio: Ratio): number {
  const [width, height] = ratio.split(':').map(Number);
  return (width ?? 1) / (height ?? 1);
}

function isNear(value: number, wanted: number, tolerance: number): boolean {
  return Math.abs(value - wanted) <= wanted * tolerance;
}
