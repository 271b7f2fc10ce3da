import type { components } from '../../../generated/http.ts';
import { invalid } from '../../failure.ts';
import { type AddressKind, nativeMediaFailure, requireAddress } from '../../models/media-rules.ts';

export type GammaMedia = components['schemas']['GammaMedia'];

/** One native medium and the field of the client's request that it comes from. */
export interface MediaSource {
  media: GammaMedia;
  /** Where its URL stands, for example `images.1`. */
  field: string;
}

const imageTypes: ReadonlySet<string> = new Set(['first_frame', 'last_frame', 'reference_image']);
const imageData = /^data:image\/([a-z0-9.+-]+)(?:;[^;,]*)*;base64,/i;
const imageFormats: ReadonlySet<string> = new Set(['jpeg', 'jpg', 'png', 'bmp', 'x-ms-bmp', 'webp']);
const megabyte = 1024 * 1024;
const maxImageMb = 20;

/**
 * Checks what the contract's patterns do not say about the URLs of native media.
 *
 * @throws Failure 400 that names the field and what it may be
 */
export function checkMedia(sources: readonly MediaSource[]): void {
  for (const { media, field } of sources) {
    const { type, url } = media;
    requireAddress(url, field, kindsOf(type));
    if (/^data:/i.test(url)) checkImageData(url, field);
  }
}

function kindsOf(type: GammaMedia['type']): readonly AddressKind[] {
  if (type === 'link') return ['web'];
  return imageTypes.has(type) ? ['web', 'store', 'image'] : ['web', 'store'];
}

/**
 * The media of a native list, named as they stand there. `path` leads to the list.
 *
 * @throws Failure 400 for too many of one type, and for types that exclude each other
 */
export function nativeSources(list: readonly GammaMedia[], path: string): MediaSource[] {
  const failure = nativeMediaFailure(list, path);
  if (failure !== undefined) throw failure;
  return list.map((media, index) => ({ media, field: `${path}.${index}.url` }));
}

function checkImageData(url: string, field: string): void {
  const [head, format] = imageData.exec(url.slice(0, 200)) ?? [];
  if (head === undefined || format === undefined)
    throw invalid(field, 'must be a URL or a Base64 data URL of an image.');
  if (!imageFormats.has(format.toLowerCase()))
    throw invalid(field, 'must be a JPEG, PNG, BMP or WEBP image.');
  if ((url.length - head.length) * 0.75 > maxImageMb * megabyte)
    throw invalid(field, `the image must have at most ${maxImageMb} MB.`);
}
