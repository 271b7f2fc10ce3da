import { invalid } from '../../lib/failure.ts';
import { defined } from '../json.ts';
import { agreedValue, type GenericVideoRequest, oneOf, ratioFields } from '../video.ts';

const resolutions = ['480p', '720p', '1080p'] as const;
const ratios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'] as const;

export interface Frame {
  resolution?: (typeof resolutions)[number];
  aspect_ratio?: (typeof ratios)[number];
}

/** Relative tolerances of a size in pixels: public clients use 1024x1792 for 9:16 at 1080 lines. */
const linesTolerance = 0.1;
const ratioTolerance = 0.04;

/** Reads the resolution and aspect ratio from equivalent fields. @throws Failure 400 for values that differ */
export function etaFrame(request: GenericVideoRequest): Frame {
  const { size, resolution } = request;
  const fromSize = size === undefined ? {} : frameOf(size);
  const agreedResolution = agreedValue({
    size: fromSize.resolution,
    resolution: resolutionOf('resolution', resolution),
  });
  const agreedRatio = agreedValue({ size: fromSize.aspect_ratio, ...ratioFields(request, ratios) });
  return defined({ resolution: agreedResolution?.value, aspect_ratio: agreedRatio?.value });
}

function frameOf(size: string): Frame {
  const [, width, height] = /^(\d{1,5})\s*[x*×]\s*(\d{1,5})$/i.exec(size.trim()) ?? [];
  if (width === undefined || height === undefined) return defined({ resolution: resolutionOf('size', size) });
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

function resolutionOf(field: string, text: string | undefined): Frame['resolution'] {
  return oneOf(field, text?.trim().toLowerCase(), resolutions);
}

function shapeOf(ratio: string): number {
  const [width, height] = ratio.split(':').map(Number);
  return (width ?? 1) / (height ?? 1);
}

function isNear(value: number, wanted: number, tolerance: number): boolean {
  return Math.abs(value - wanted) <= wanted * tolerance;
}
