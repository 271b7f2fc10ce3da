import { invalid } from '../../lib/failure.ts';
import { defined } from '../../lib/json.ts';
import { conflict, requireAddress } from '../../models/media-rules.ts';
import { etaSecondsWords, familySeconds, isInRange } from '../../models/video-options.ts';
import { maxVideoTokens } from '../../models/video-tokens.ts';
import type { TaskModel } from '../../tasks/task-model.ts';
import {
  type GenericVideoRequest,
  isOpenRatio,
  pricedResolution,
  requestedSeconds,
  type TranslatedVideo,
} from '../video.ts';
import { etaFrame, ratios, resolutions } from './frame.ts';

const maxPromptLength = 4096;
const maxReferences = 7;
const imageKinds = ['web', 'image'] as const;
const defaultSeconds = 8;
/** An edit has the length of its source, at most 8.7 seconds. */
const maxEditSeconds = 9;
const maxFramesPerSecond = 30;

/** Translates a generic request to the eta protocol. @throws Failure 400 that names the field */
export function etaFromGeneric(model: TaskModel, request: GenericVideoRequest): TranslatedVideo {
  const { custom_domain, size } = request;
  const prompt = readPrompt(request.prompt);
  const media = readMedia(model, request);
  const isEdit = 'video' in media;
  const seconds = readSeconds(request, isEdit);
  const frame = etaFrame(request);
  const { resolution, open } = pricedResolution('eta', model.id, frame.resolution, resolutions);
  const duration = isEdit ? undefined : seconds;
  const longest = isEdit ? maxEditSeconds : (seconds ?? defaultSeconds);
  if (frame.resolution === '1080p' && (!isNewer(model) || 'reference_images' in media)) {
    const field = request.resolution === undefined ? 'size' : 'resolution';
    throw invalid(field, 'must not be 1080p, except for the 1.5 model without reference_images.');
  }
  return {
    body: { prompt, ...media, ...defined({ duration }), ...frame },
    facts: {
      prompt,
      ...defined({ seconds: duration?.toString(), size: size ?? frame.resolution, custom_domain }),
    },
    expectedUnits: longest,
    maxOutputTokens: maxVideoTokens(resolution, longest, maxFramesPerSecond),
    priceFields: {
      resolution,
      ...defined({ ratio: frame.aspect_ratio }),
      duration: longest,
      audio: true,
      reference_video: isEdit,
    },
    openFields: {
      ...(open && { resolution: open }),
      ...(isOpenRatio(frame.aspect_ratio) && { ratio: ratios }),
      ...(isEdit && { duration: [familySeconds.eta[0], longest] }),
    },
  };
}

/** Only the newer model supports 1080p. It does not support edits. */
function isNewer({ id }: TaskModel): boolean {
  return /-1\.5(-|$)/.test(id);
}

function readPrompt(prompt: string | undefined): string {
  if (prompt === undefined || prompt.trim() === '') throw invalid('prompt', 'is required.');
  // The contract counts code points, each of at most two UTF-16 units.
  if (prompt.length <= 2 * maxPromptLength && Array.from(prompt).length <= maxPromptLength) return prompt;
  throw invalid('prompt', `must have at most ${maxPromptLength} characters.`);
}

/** Translates the media of a request, which may have only one kind. */
function readMedia(model: TaskModel, request: GenericVideoRequest) {
  const { video } = request;
  const images = startImages(request);
  const references = request.reference_images ?? [];
  const [image] = images;
  if (images.length > 1)
    throw conflict('images', 'at most 1 start image is allowed. Send several as reference_images.');
  if (references.length > maxReferences)
    throw invalid('reference_images', `must have at most ${maxReferences} items.`);
  if (image !== undefined && references.length > 0)
    throw conflict(image.field, 'cannot be combined with reference_images.');
  if (video !== undefined) {
    if (isNewer(model))
      throw conflict('video', `is not supported by ${model.id}. Use the model without 1.5.`);
    const other = image?.field ?? (references.length > 0 ? 'reference_images' : undefined);
    if (other !== undefined) throw conflict('video', `cannot be combined with ${other}.`);
    return { video: { url: requireAddress(video.url, 'video.url', ['web']) } };
  }
  if (image !== undefined) return { image: { url: requireAddress(image.url, image.field, imageKinds) } };
  if (references.length === 0) return {};
  return {
    reference_images: references.map(({ url }, index) => ({
      url: requireAddress(url, `reference_images.${index}.url`, imageKinds),
    })),
  };
}

function startImages({ image, images = [], input_reference }: GenericVideoRequest) {
  return [
    { field: 'image', url: image },
    { field: 'input_reference.image_url', url: input_reference?.image_url },
    ...images.map((url, index) => ({ field: `images.${index}`, url })),
  ].flatMap(({ field, url }) => (url === undefined ? [] : [{ field, url }]));
}

/** Undefined without a length, or with -1 for an edit. */
function readSeconds(request: GenericVideoRequest, isEdit: boolean): number | undefined {
  const requested = requestedSeconds(request);
  if (requested === undefined || (isEdit && requested.length === -1)) return undefined;
  const { field, length } = requested;
  if (Number.isInteger(length) && isInRange(length, familySeconds.eta)) return length;
  throw invalid(field, etaSecondsWords(isEdit));
}
