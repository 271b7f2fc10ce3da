import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Small playable files by file extension. */
const files: Readonly<Record<string, string>> = {
  mp3: 'speech.mp3',
  wav: 'speech.wav',
  ogg: 'speech.ogg',
  flac: 'speech.flac',
  mp4: 'clip.mp4',
  mov: 'clip.mov',
  glb: 'object.glb',
  png: 'picture.png',
  jpg: 'picture.jpg',
  webp: 'picture.webp',
};

const extensions: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/ogg': 'ogg',
  'audio/flac': 'flac',
  'video/mp4': 'mp4',
  'video/quicktime': 'mov',
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'model/gltf-binary': 'glb',
  'application/octet-stream': 'glb',
};

const mediaFolder = fileURLToPath(new URL('./media', import.meta.url));
/** Path of the files on the mock. */
export const mediaPath = '/mock-media';

/** Returns the file for an extension, in any letter case. */
export const fileFor = (extension: string): string | undefined => files[extension.toLowerCase()];

/** Returns 16-bit little-endian mono samples at 16 kHz: the WAV file without its header. */
const pcm = () => readFileSync(`${mediaFolder}/speech.wav`).subarray(44);

/** Returns a small file of a media type. Undefined for other types. */
export function mediaOf(mediaType: string): Buffer | undefined {
  if (mediaType === 'audio/pcm') return pcm();
  const name = fileFor(extensions[mediaType] ?? '');
  return name === undefined ? undefined : readFileSync(`${mediaFolder}/${name}`);
}

/** Returns a small file by its name. Undefined for any other name. */
export function mediaFile(name: string): Buffer | undefined {
  return Object.values(files).includes(name) ? readFileSync(`${mediaFolder}/${name}`) : undefined;
}
