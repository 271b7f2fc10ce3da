import { invalid } from '../../lib/failure.ts';
import { conflict, etaSecondsWords, familySeconds, requireAddress } from '../../models/media-rules.ts';
import type { TaskModel } from '../../tasks/task-model.ts';
import { type GenericVideoRequest, lengthAsked, type TranslatedVideo } from '../video.ts';
import { etaFrame } from './frame.ts';

const maxPromptLength = 4096;
const maxReferences = 7;
const defaultSeconds = 8;
/** A source may last 8.7 seconds, and its edit lasts as long. */
const maxEditSeconds = 9;

/**
 * The eta upstream's body for a generic request. A length is sent only where the provider heeds it: an edit keeps
 * that of its video.
 *
 * @throws Failure 400 naming the field; `invalid_media_combination` for media that exclude each other
 */
export function etaFromGeneric(model: TaskModel, request: GenericVideoRequest): TranslatedVideo {
  const { custom_domain, size } = request;
  const prompt = readPrompt(request.prompt);
  const media = readMedia(model, request);
  const editing = 'video' in media;
  const seconds = readSeconds(request, editing);
  const frame = etaFrame(request);
  if (frame.resolution === '1080p' && (!isNewer(model) || 'reference_images' in media)) {
    const named = request.resolution === undefined ? 'size' : 'resolution';
    throw invalid(named, '1080p is made by the 1.5 model only, and not with reference_images; use 720p.');
  }
  return {
    body: { prompt, ...media, ...(seconds === undefined || editing ? {} : { duration: seconds }), ...frame },
    facts: {
      prompt,
      ...(seconds === undefined || editing ? {} : { seconds: String(seconds) }),
      ...(size === undefined ? frame.resolution && { size: frame.resolution } : { size }),
      ...(custom_domain === undefined ? {} : { custom_domain }),
    },
    expectedUnits: editing ? maxEditSeconds : (seconds ?? defaultSeconds),
  };
}

/** Only the newer model makes 1080p, and it edits nothing. */
function isNewer({ id }: TaskModel): boolean {
  return /-1\.5(-|$)/.test(id);
}

function readPrompt(prompt: string | undefined): string {
  if (prompt === undefined || prompt.trim() === '') throw invalid('prompt', 'is required.');
  // Code points, as the contract counts; none takes more than two units.
  if (prompt.length <= 2 * maxPromptLength && Array.from(prompt).length <= maxPromptLength) return prompt;
  throw invalid('prompt', `must have at most ${maxPromptLength} characters.`);
}

/** The one kind of media a request may hold, in the upstream's words; nothing when it holds none. */
function readMedia(model: TaskModel, request: GenericVideoRequest) {
  const { video } = request;
  const images = startImages(request);
  const references = request.reference_images ?? [];
  const [image] = images;
  if (images.length > 1)
    throw conflict('images', 'at most 1 start image is taken; send several as reference_images.');
  if (references.length > maxReferences)
    throw invalid('reference_images', `at most ${maxReferences} are taken.`);
  if (image !== undefined && references.length > 0)
    throw conflict(image.field, 'cannot be combined with reference_images.');
  if (video !== undefined) {
    if (isNewer(model)) throw conflict('video', `${model.id} edits no videos; use the model without 1.5.`);
    const other = image?.field ?? (references.length > 0 ? 'reference_images' : undefined);
    if (other !== undefined) throw conflict('video', `cannot be combined with ${other}.`);
    requireAddress(video.url, 'video.url', ['web']);
    return { video: { url: video.url } };
  }
  if (image !== undefined) return { image: { url: pictureUrl(image.url, image.field) } };
  if (references.length === 0) return {};
  return {
    reference_images: references.map(({ url }, index) => ({
      url: pictureUrl(url, `reference_images.${index}.url`),
    })),
  };
}

/** Every start image with the name of its field. */
function startImages({ image, images = [], input_reference }: GenericVideoRequest) {
  return [
    ...(image === undefined ? [] : [{ field: 'image', url: image }]),
    ...(input_reference === undefined
      ? []
      : [{ field: 'input_reference.image_url', url: input_reference.image_url }]),
    ...images.map((url, index) => ({ field: `images.${index}`, url })),
  ];
}

function pictureUrl(url: string, field: string): string {
  requireAddress(url, field, ['web', 'image']);
  return url;
}

/** Undefined: not given, or -1 for an edit. */
function readSeconds(request: GenericVideoRequest, editing: boolean): number | undefined {
  const asked = lengthAsked(request);
  if (asked === undefined || (editing && asked.length === -1)) return undefined;
  const { field, length } = asked;
  const [shortest, longest] = familySeconds.eta;
  if (Number.isInteger(length) && length >= shortest && length <= longest) return length;
  throw invalid(field, etaSecondsWords(editing));
}
