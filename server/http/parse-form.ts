import { Readable } from 'node:stream';
import type { imageSize as ImageSize } from 'image-size';
import { invalid } from '../lib/failure.ts';
import { type FormValue, nestFields } from './form-fields.ts';
import { type FormLimits, type FormPart, readParts } from './form-parts.ts';
import { requirePlainValues } from './value-problem.ts';

const imageTypes: ReadonlyMap<string, string> = new Map([
  ['jpg', 'image/jpeg'],
  ['png', 'image/png'],
  ['webp', 'image/webp'],
  ['bmp', 'image/bmp'],
]);

/**
 * Parses a multipart form into the nested values that the names of its parts describe.
 *
 * @param contentType value of the header, with the boundary
 * @throws Failure 400 or 413 that names the part
 */
export async function parseForm(
  chunks: readonly Buffer[],
  contentType: string,
  limits: FormLimits,
): Promise<Record<string, FormValue>> {
  const parts = await readParts(Readable.from(chunks), contentType, limits);
  // Only forms need the 26 files of this package.
  const { imageSize } = await import('image-size');
  const form = nestFields(parts.map((part) => field(part, imageSize)));
  // Unlike a JSON body, a form can hold any control character.
  requirePlainValues(form, 'body');
  return form;
}

/** Converts a file to its JSON equivalent, an object with a data URL. */
function field(
  { name, value }: FormPart,
  imageSize: typeof ImageSize,
): readonly [string, string | { image_url: string }] {
  if (typeof value === 'string') return [name, value];
  return [
    name,
    { image_url: `data:${imageType(name, value, imageSize)};base64,${value.toString('base64')}` },
  ];
}

function imageType(name: string, bytes: Buffer, imageSize: typeof ImageSize): string {
  const mediaType = imageTypes.get(formatOf(bytes, imageSize) ?? '');
  if (mediaType === undefined) throw invalid(name, 'must be a JPEG, PNG, WEBP or BMP image.');
  return mediaType;
}

function formatOf(bytes: Buffer, imageSize: typeof ImageSize): string | undefined {
  try {
    return imageSize(bytes).type;
  } catch {
    return undefined;
  }
}
