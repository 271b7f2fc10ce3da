import { invalid } from '../../failure.ts';
import { conflict } from '../../models/media-rules.ts';
import type { GenericVideoRequest } from '../video-request.ts';
import type { MediaSource } from './video-media.ts';

const maxFrames = 2;
const maxReferenceImages = 10;

/**
 * The native media that the generic media fields stand for: frames, or references, but never both.
 *
 * @throws Failure 400 for fields that exclude each other, and for more items than the native protocol takes
 */
export function shortcutMedia(request: GenericVideoRequest): MediaSource[] {
  const frames = frameSources(request);
  const references = referenceSources(request);
  const [frame] = frames;
  const [reference] = references;
  if (frame !== undefined && reference !== undefined)
    throw conflict(
      nameOf(reference),
      `cannot be combined with ${nameOf(frame)}: a video has first and last frames or references, not both.`,
    );
  return [...frames, ...references];
}

function frameSources({ image, images = [], input_reference }: GenericVideoRequest): MediaSource[] {
  if (image !== undefined && input_reference !== undefined)
    throw conflict('input_reference', 'is another name of image; give one of them.');
  const single = image ?? input_reference?.image_url;
  const name = image === undefined ? 'input_reference' : 'image';
  if (single !== undefined && images.length > 0)
    throw conflict('images', `cannot be combined with ${name}: both hold the first frame.`);
  if (images.length > maxFrames)
    throw invalid('images', `must have at most ${maxFrames} items, the first and the last frame.`);
  if (single !== undefined) {
    const field = image === undefined ? 'input_reference.image_url' : 'image';
    return [{ media: { type: 'first_frame', url: single }, field }];
  }
  return images.map((url, index) => ({
    media: { type: index === 0 ? 'first_frame' : 'last_frame', url },
    field: `images.${index}`,
  }));
}

function referenceSources({ reference_images: images = [], video }: GenericVideoRequest): MediaSource[] {
  if (images.length > maxReferenceImages)
    throw invalid('reference_images', `must have at most ${maxReferenceImages} items.`);
  const sources = images.map(
    ({ url }, index): MediaSource => ({
      media: { type: 'reference_image', url },
      field: `reference_images.${index}.url`,
    }),
  );
  if (video !== undefined)
    sources.push({ media: { type: 'reference_video', url: video.url }, field: 'video.url' });
  return sources;
}

/** The field that the client gave, without what is inside it. */
function nameOf({ field }: MediaSource): string {
  return field.split('.', 1)[0] ?? field;
}
