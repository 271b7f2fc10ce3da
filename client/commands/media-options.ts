import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { UsageError } from './usage-error.ts';

/** Media types by file extension. */
type MediaTypes = Readonly<Record<string, string>>;

export const imageTypes: MediaTypes = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.bmp': 'image/bmp',
  '.gif': 'image/gif',
  '.tif': 'image/tiff',
  '.tiff': 'image/tiff',
  '.heic': 'image/heic',
  '.heif': 'image/heif',
};

export const audioTypes: MediaTypes = {
  '.wav': 'audio/wav',
  '.mp3': 'audio/mpeg',
  '.m4a': 'audio/mp4',
  '.mp4': 'audio/mp4',
};

/** Whether the value is a URL rather than a local file. */
export function isUrl(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(value);
}

/** Returns a URL or a data URL unchanged, and a file of one of the types as a data URL. */
export async function readMediaFile(name: string, value: string, types: MediaTypes): Promise<string> {
  if (isUrl(value) || /^data:/i.test(value)) return value;
  const type = types[extname(value).toLowerCase()];
  if (!type)
    throw new UsageError(`${name} must be a URL, or a file that ends in ${Object.keys(types).join(', ')}.`);
  return `data:${type};base64,${await readFile(value, 'base64')}`;
}

/** Requires a URL. */
export function readUrl(name: string, value: string | undefined): string | undefined {
  if (value !== undefined && !isUrl(value))
    throw new UsageError(`${name} must be a URL; a local file is not accepted.`);
  return value;
}
