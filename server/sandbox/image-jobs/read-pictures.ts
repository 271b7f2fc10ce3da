import type { MediaEngine } from '../media/engine.ts';
import type { ReadMask } from '../media/scenes/mask.ts';
import type { PictureSize } from '../media/scenes/scene.ts';
import { wrong } from './submit-reply.ts';

const pictureUrl = /^data:image\/(png|jpe?g);base64,/i;
const maskUrl = /^data:image\/png;base64,/i;
const maxPictureBytes = 20 * 1024 * 1024;
const maxMaskBytes = 10 * 1024 * 1024;
/** Longest side of a reference picture as it is kept. */
const keptSide = 192;

/** Small PNGs of the data URLs of PNGs and JPEGs. Throws a `SubmitRefusal`. */
export async function readReferences(engine: MediaEngine, urls: readonly string[]): Promise<Uint8Array[]> {
  return await Promise.all(
    urls.map(async (url, index) => {
      const name = `base64Array[${index}]`;
      const bytes = decode(url, { pattern: pictureUrl, name, kind: 'a PNG or JPEG', limit: maxPictureBytes });
      const facts = await engine.run('readFacts', { kind: 'image', bytes });
      const format = facts?.format ?? '';
      if (format !== 'png' && format !== 'jpg') throw wrong(`${name} is no PNG or JPEG that can be read`);
      const thumbnail = await engine.run('readThumbnail', { bytes, format, maxSide: keptSide });
      if (typeof thumbnail === 'string') throw wrong(`${name} is ${thumbnail}`);
      return thumbnail.png;
    }),
  );
}

const problems = {
  format: 'is no PNG that can be read',
  size: 'has more than 4096 pixels on a side',
  shape: 'has other proportions than the picture',
  empty: 'chooses nothing: what is to change must be white and opaque',
} as const;

/** Reads the mask of a picture of that size. Throws a `SubmitRefusal`. */
export async function loadMask(
  engine: MediaEngine,
  url: string | undefined,
  picture: PictureSize,
): Promise<ReadMask> {
  const name = 'maskBase64';
  if (url === undefined || url === '') throw wrong(`${name} is required here`);
  const bytes = decode(url, { pattern: maskUrl, name, kind: 'a PNG', limit: maxMaskBytes });
  const mask = await engine.run('readMask', { bytes, picture });
  if (typeof mask === 'string') throw wrong(`${name} ${problems[mask]}`);
  return mask;
}

function decode(
  url: string,
  { pattern, name, kind, limit }: { pattern: RegExp; name: string; kind: string; limit: number },
): Buffer {
  const [head] = pattern.exec(url) ?? [];
  if (head === undefined) throw wrong(`${name} must be a data URL of ${kind}`);
  const bytes = Buffer.from(url.slice(head.length), 'base64');
  if (bytes.length > limit) throw wrong(`${name} has more than ${limit} bytes`);
  return bytes;
}
