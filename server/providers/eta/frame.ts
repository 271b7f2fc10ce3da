import { defined } from '../../lib/json.ts';
import { agreedValue, type GenericVideoRequest, oneOf, ratioFields } from '../video.ts';
import { frameOfSize } from '../video-frame.ts';

export const resolutions = ['480p', '720p', '1080p'] as const;
export const ratios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'] as const;

export interface Frame {
  resolution?: (typeof resolutions)[number];
  aspect_ratio?: (typeof ratios)[number];
}

/** Reads the resolution and aspect ratio from equivalent fields. @throws Failure 400 for values that differ */
export function etaFrame(request: GenericVideoRequest): Frame {
  const { size, resolution } = request;
  const frame = frameOfSize(size, { resolutions, ratios });
  const agreedResolution = agreedValue({
    size: frame === undefined ? resolutionOf('size', size) : frame.resolution,
    resolution: resolutionOf('resolution', resolution),
  });
  const agreedRatio = agreedValue({ size: frame?.ratio, ...ratioFields(request, ratios) });
  return defined({ resolution: agreedResolution?.value, aspect_ratio: agreedRatio?.value });
}

function resolutionOf(field: string, text: string | undefined): Frame['resolution'] {
  return oneOf(field, text?.trim().toLowerCase(), resolutions);
}
