import { invalid } from '../../failure.ts';
import type { GenericVideoRequest } from '../video.ts';

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
 * Resolution and aspect ratio of a request: eta's own fields, or a size that means them. What the request leaves
 * open stays open.
 *
 * @throws Failure 400 for a value the provider does not know, and for fields that say different things
 */
export function etaFrame({ size, resolution, aspect_ratio }: GenericVideoRequest): Frame {
  const own: Frame = {
    ...(resolution === undefined ? {} : { resolution: resolutionOf('resolution', resolution) }),
    ...(aspect_ratio === undefined ? {} : { aspect_ratio: ratioOf(aspect_ratio) }),
  };
  const meant = size === undefined ? {} : frameOf(size);
  for (const field of ['resolution', 'aspect_ratio'] as const) {
    if (own[field] === undefined || meant[field] === undefined || own[field] === meant[field]) continue;
    throw invalid(field, `${own[field]} disagrees with size ${size}; send one of them.`);
  }
  return { ...meant, ...own };
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

function ratioOf(text: string): Ratio {
  const found = ratios.find((one) => one === text);
  if (found !== undefined) return found;
  throw invalid('aspect_ratio', `must be one of ${ratios.join(', ')}.`);
}

function shapeOf(ratio: Ratio): number {
  const [width, height] = ratio.split(':').map(Number);
  return (width ?? 1) / (height ?? 1);
}

function near(value: number, wanted: number, tolerance: number): boolean {
  return Math.abs(value - wanted) <= wanted * tolerance;
}
