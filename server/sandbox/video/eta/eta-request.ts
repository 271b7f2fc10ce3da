import type { JsonObject } from '../../http/json-body.ts';
import { invalidParameter } from '../../http/native-error.ts';
import { resolveModel } from '../../models.ts';
import { Parameters } from '../../native/parameters.ts';
import { isDataUrl } from '../media-loader.ts';

export type EtaAction = 'generations' | 'edits' | 'extensions';

/** An eta request with its defaults filled in. */
export interface EtaRequest {
  action: EtaAction;
  model: string;
  prompt: string;
  /** Seconds to make; an edit keeps those of its source. */
  duration: number;
  resolution: (typeof resolutions)[number];
  /** Undefined: that of the picture or the video, else 16:9. */
  aspectRatio: (typeof ratios)[number] | undefined;
  image: string | undefined;
  references: readonly string[];
  video: string | undefined;
}

const resolutions = ['480p', '720p', '1080p'] as const;
const ratios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'] as const;
const maxPromptCharacters = 4096;
const maxReferences = 7;

/** Reads the body of a request. Throws a `NativeError` for what its fields alone show to be wrong. */
export function readEtaRequest(body: JsonObject, path: EtaAction): EtaRequest {
  const { id: model } = resolveModel(body.model, 'eta');
  const newer = model.includes('-1.5');
  const request = new Parameters(body, '');
  const image = readUrl(request, 'image');
  const video = readUrl(request, 'video');
  const references = request
    .objects('reference_images', maxReferences)
    .map((item) => item.requiredString('url'));
  for (const url of references) checkUrl(url, 'reference_images');
  const resolution = request.choice('resolution', resolutions, '480p');
  // A video in an ordinary request means an edit, too.
  const action = path === 'generations' && video !== undefined ? 'edits' : path;

  if (action !== 'generations' && video === undefined) throw request.invalid('video', 'is required');
  if (video !== undefined && newer) throw request.invalid('video', `is not taken by ${model}`);
  if (video !== undefined && (image !== undefined || references.length > 0))
    throw invalidParameter('video excludes image and reference_images', 'video');
  if (image !== undefined && references.length > 0)
    throw invalidParameter('image and reference_images exclude each other', 'image');
  if (resolution === '1080p' && (!newer || references.length > 0))
    throw request.invalid(
      'resolution',
      'is 1080p, which only the 1.5 model takes, and not with reference_images',
    );
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
  if (url !== undefined) checkUrl(url, name);
  return url;
}

function checkUrl(url: string, field: string): void {
  const fits = /^https?:\/\//i.test(url) || (field !== 'video' && isDataUrl(url, 'image'));
  if (!fits) throw invalidParameter(`${field}.url must be an http or https address`, `${field}.url`);
}
