import type { JsonObject } from '../../http/json-body.ts';
import { invalidParameter } from '../../http/native-error.ts';
import { resolveModel } from '../../models.ts';
import { Parameters } from '../../native/parameters.ts';
import { isDataUrl } from '../media-loader.ts';

export type EtaAction = 'generations' | 'edits' | 'extensions';

/** An eta request with default values. */
export interface EtaRequest {
  action: EtaAction;
  model: string;
  prompt: string;
  /** Duration in seconds. An edit keeps the duration of its source. */
  duration: number;
  resolution: (typeof resolutions)[number];
  /** Undefined: the ratio of the image or the video, otherwise 16:9. */
  aspectRatio: (typeof ratios)[number] | undefined;
  image: string | undefined;
  references: readonly string[];
  video: string | undefined;
}

const resolutions = ['480p', '720p', '1080p'] as const;
const ratios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'] as const;
const maxPromptCharacters = 4096;
const maxReferences = 7;

/** Reads the body of a request. Throws a `NativeError` if a field is invalid. */
export function readEtaRequest(body: JsonObject, path: EtaAction): EtaRequest {
  const { id: model } = resolveModel(body.model, 'eta');
  const isNewer = model.includes('-1.5');
  const request = new Parameters(body, '');
  const image = readUrl(request, 'image');
  const video = readUrl(request, 'video');
  const references = request
    .objects('reference_images', maxReferences)
    .map((item) => item.requiredString('url'));
  for (const url of references) validateUrl(url, 'reference_images');
  const resolution = request.choice('resolution', resolutions, '480p');
  // A request for generations with a video is also an edit.
  const action = path === 'generations' && video !== undefined ? 'edits' : path;

  if (action !== 'generations' && video === undefined) throw request.invalid('video', 'is required');
  if (video !== undefined && isNewer) throw request.invalid('video', `is not supported by ${model}`);
  if (video !== undefined && (image !== undefined || references.length > 0))
    throw invalidParameter('video cannot be combined with image or reference_images', 'video');
  if (image !== undefined && references.length > 0)
    throw invalidParameter('image and reference_images are mutually exclusive', 'image');
  if (resolution === '1080p' && (!isNewer || references.length > 0))
    throw request.invalid('resolution', '1080p is only supported by the 1.5 model, without reference_images');
  return {
    action,
    model,
    prompt: request.limitedString('prompt', maxPromptCharacters),
    duration: request.integer('duration', { min: 1, max: 15 }, 8),
    resolution,
    aspectRatio: request.optionalChoice('aspect_ratio', ratios),
    image,
    references,
    video,
  };
}

function readUrl(request: Parameters, name: string): string | undefined {
  const url = request.object(name)?.requiredString('url');
  if (url !== undefined) validateUrl(url, name);
  return url;
}

function validateUrl(url: string, field: string): void {
  const fits = /^https?:\/\//i.test(url) || (field !== 'video' && isDataUrl(url, 'image'));
  if (!fits) throw invalidParameter(`${field}.url must be an http or https address`, `${field}.url`);
}
