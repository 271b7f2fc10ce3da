import type { MediaEngine } from '../media/engine.ts';
import type { DecodedMask } from '../media/scenes/mask.ts';
import type { ImageSize } from '../media/scenes/scene.ts';
import { createInvalidError } from './submit-reply.ts';

const imageUrl = /^data:image\/(png|jpe?g);base64,/i;
const maskUrl = /^data:image\/png;base64,/i;
const maxImageBytes = 20 * 1024 * 1024;
const maxMaskBytes = 10 * 1024 * 1024;
/** Longest side of a stored reference image. */
const maxReferenceSide = 192;

/** Decodes data URLs of PNGs and JPEGs to small PNGs. Throws a `SubmitError`. */
export async function readReferences(engine: MediaEngine, urls: readonly string[]): Promise<Uint8Array[]> {
  return await Promise.all(
    urls.map(async (url, index) => {
      const name = `base64Array[${index}]`;
      const bytes = decodeDataUrl(url, {
        pattern: imageUrl,
        name,
        kind: 'a PNG or JPEG',
        limit: maxImageBytes,
      });
      const facts = await engine.run('readFacts', { kind: 'image', bytes });
      const format = facts?.format ?? '';
      if (format !== 'png' && format !== 'jpg')
        throw createInvalidError(`${name} is not a readable PNG or JPEG`);
      const thumbnail = await engine.run('readThumbnail', { bytes, format, maxSide: maxReferenceSide });
      if (typeof thumbnail === 'string') throw createInvalidError(`${name} is ${thumbnail}`);
      return thumbnail.png;
    }),
  );
}

const maskErrors = {
  format: 'is not a readable PNG',
  size: 'has more than 4096 pixels on a side',
  shape: 'has a different aspect ratio than the image',
  empty: 'selects no pixels: pixels to change must be white and opaque',
} as const;

/** Reads the mask of an image of that size. Throws a `SubmitError`. */
export async function loadMask(
  engine: MediaEngine,
  url: string | undefined,
  image: ImageSize,
): Promise<DecodedMask> {
  const name = 'maskBase64';
  if (url === undefined || url === '') throw createInvalidError(`${name} is required here`);
  const bytes = decodeDataUrl(url, { pattern: maskUrl, name, kind: 'a PNG', limit: maxMaskBytes });
  const mask = await engine.run('readMask', { bytes, image });
  if (typeof mask === 'string') throw createInvalidError(`${name} ${maskErrors[mask]}`);
  return mask;
}

function decodeDataUrl(
  url: string,
  { pattern, name, kind, limit }: { pattern: RegExp; name: string; kind: string; limit: number },
): Buffer {
  const [head] = pattern.exec(url) ?? [];
  if (head === undefined) throw createInvalidError(`${name} must be a data URL of ${kind}`);
  const bytes = Buffer.from(url.slice(head.length), 'base64');
  if (bytes.length > limit) throw createInvalidError(`${name} has more than ${limit} bytes`);
  return bytes;
}
