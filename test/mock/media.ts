import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Small files that really play, by the ending of their names. */
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

const endings: Readonly<Record<string, string>> = {
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

export const mediaFolder = fileURLToPath(new URL('./media', import.meta.url));
/** Where the mock serves the files. */
export const mediaPath = '/mock-media';

/** The name of the file that stands for one with such an ending, in any letter case. */
export const fileFor = (ending: string): string | undefined => files[ending.toLowerCase()];

/** 16-bit little-endian mono samples at 16 kHz: the WAV file without its header. */
const pcm = () => readFileSync(`${mediaFolder}/speech.wav`).subarray(44);

/** A small file of a media type; undefined for one that is no media. */
export function mediaOf(mediaType: string): Buffer | undefined {
  if (mediaType === 'audio/pcm') return pcm();
  const name = fileFor(endings[mediaType] ?? '');
  return name === undefined ? undefined : readFileSync(`${mediaFolder}/${name}`);
}

/** Bytes in so many pieces of whole samples. */
export function inChunks(bytes: Buffer, count: number): Buffer[] {
  const size = Math.ceil(bytes.length / count / 2) * 2;
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}
