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

/** How far a size in pixels may be from what it is taken for: 1024x1792 is a 9:16 of 1080 lines to public clients. */
const linesTolerance = 0.1;
const ratioTolerance = 0.04;

/**
 * Resolution and aspect ratio of a request, from eta's own fields, a ratio in `metadata`, or a size that means them.
 * Neither is set when the request does not name it.
 *
 * @throws Failure 400 for a value the provider does not have, and for fields that disagree
 */
export function etaFrame(request: GenericVideoRequest): Frame {
  const { size, resolution } = request;
  const meant = size === undefined ? {} : frameOf(size);
  const resolutionAsked = agreedValue([
    { field: 'size', value: meant.resolution },
    {
      field: 'resolution',
      value: resolution === undefined ? undefined : resolutionOf('resolution', resolution),
    },
  ]);
  const ratioAsked = agreedValue([
    { field: 'size', value: meant.aspect_ratio },
    ...ratioFields(request).map(({ field, value }) => ({
      field,
      value: value === undefined ? undefined : ratioOf(field, value),
    })),
  ]);
  return {
    ...(resolutionAsked !== undefined && { resolution: resolutionAsked.value }),
    ...(ratioAsked !== undefined && { aspect_ratio: ratioAsked.value }),
  };
}

function frameOf(size: string): Frame {
  const [, width, height] = /^(\d{1,5})\s*[x*×]\s*(\d{1,5})$/i.exec(size.trim()) ?? [];
  if (width === undefined || height === undefined) return { resolution: resolutionOf('size', size) };
  const lines = Math.min(Number(width), Number(height));
  const shape = Number(width) / Number(height);
  const resolution = resolutions.find((one) => near(lines, Number.parseInt(one, 10), linesTolerance));
  const aspect_ratio = ratios.find((one) => near(shape, shapeOf(one), ratioTolerance));
  if (resolution !== undefined && aspect_ratio !== undefined) return { resolution, aspect_ratio };
  throw invalid(
    'size',
    `${size} is none the model makes; it must have about 480, 720 or 1080 lines and a ratio of ${ratios.join(', ')}.`,
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

function near(value: number, wanted: number, tolerance: number): boolean {
  return Math.abs(value - wanted) <= wanted * tolerance;
}
