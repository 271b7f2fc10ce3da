import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { UsageError } from './check-options.ts';

/** Media types by the ending of a file. */
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

/** Whether it names something elsewhere, and no file on this machine. */
export function isAddress(value: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(value);
}

/** An address or a data URL as it is; a file of one of the types as a data URL. */
export async function readMediaFile(name: string, value: string, types: MediaTypes): Promise<string> {
  if (isAddress(value) || /^data:/i.test(value)) return value;
  const type = types[extname(value).toLowerCase()];
  if (!type)
    throw new UsageError(`${name}: an address, or a file that ends in ${Object.keys(types).join(', ')}.`);
  return `data:${type};base64,${await readFile(value, 'base64')}`;
}

/** An address; files are not taken. */
export function readAddress(name: string, value: string | undefined): string | undefined {
  if (value !== undefined && !isAddress(value))
    throw new UsageError(`${name}: an address; a file on this machine is not taken here.`);
  return value;
}
