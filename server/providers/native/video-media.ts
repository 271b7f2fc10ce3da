import type { components } from '../../../generated/http.ts';
import { invalid } from '../../lib/failure.ts';
import {
  type AddressKind,
  checkDataUrl,
  conflict,
  nativeMediaFailure,
  requireAddress,
} from '../../models/media-rules.ts';
import type { GenericVideoRequest } from '../video.ts';

export type GammaMedia = components['schemas']['GammaMedia'];

/** A native media item and the client's field that it comes from. */
export interface MediaSource {
  media: GammaMedia;
  /** Field of its URL, for example `images.1`. */
  field: string;
}

const imageTypes: ReadonlySet<string> = new Set(['first_frame', 'last_frame', 'reference_image']);
const imageFormats: readonly string[] = ['jpeg', 'jpg', 'png', 'bmp', 'x-ms-bmp', 'webp'];
const maxImageMb = 20;

/** Checks the URLs of native media beyond the patterns of the contract. @throws Failure 400 */
export function checkMedia(sources: readonly MediaSource[]): void {
  for (const { media, field } of sources) {
    const { type, url } = media;
    const kinds: AddressKind[] = type === 'link' ? ['web'] : ['web', 'store'];
    requireAddress(url, field, imageTypes.has(type) ? [...kinds, 'image'] : kinds);
    const format = checkDataUrl(url, field, 'image', maxImageMb);
    if (format !== undefined && !imageFormats.includes(format))
      throw invalid(field, 'must be a JPEG, PNG, BMP or WEBP image.');
  }
}

/** Names the media of a native list by their position below `path`. @throws Failure 400 for invalid combinations */
export function nativeSources(list: readonly GammaMedia[], path: string): MediaSource[] {
  const failure = nativeMediaFailure(list, path);
  if (failure !== undefined) throw failure;
  return list.map((media, index) => ({ media, field: `${path}.${index}.url` }));
}

const maxFrames = 2;
const maxReferenceImages = 10;

/** Translates the generic media fields to frames or references. @throws Failure 400 for any other combination */
export function shortcutMedia(request: GenericVideoRequest): MediaSource[] {
  const frames = frameSources(request);
  const references = referenceSources(request);
  const [frame] = frames;
  const [reference] = references;
  if (frame !== undefined && reference !== undefined)
    throw conflict(
      nameOf(reference),
      `cannot be combined with ${nameOf(frame)}: a video has either frames or references.`,
    );
  return [...frames, ...references];
}

function frameSources({ image, images = [], input_reference }: GenericVideoRequest): MediaSource[] {
  if (image !== undefined && input_reference !== undefined)
    throw conflict('input_reference', 'is an alias of image; send only one of them.');
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

/** The client's top-level field. */
function nameOf({ field }: MediaSource): string {
  return field.split('.', 1)[0] ?? field;
}
