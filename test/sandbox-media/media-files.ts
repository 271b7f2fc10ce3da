import { createMp3Encoder } from 'wasm-media-encoders';
import type { ClipPlan } from '../../server/sandbox/media/clip/clip-plan.ts';
import { renderClip } from '../../server/sandbox/media/clip/render-clip.ts';
import { encodePng } from '../../server/sandbox/media/images/encode.ts';

/** Small files of all formats, created here so that each can have any size. Images have a single color. */

type Color = readonly [number, number, number, number?];
type CreateImage = (width: number, height: number, color?: Color) => Uint8Array;

const gray: Color = [120, 130, 140];

function pixels(width: number, height: number, [red, green, blue, alpha = 255]: Color): Uint8Array {
  const rgba = new Uint8Array(width * height * 4);
  for (let at = 0; at < rgba.length; at += 4) rgba.set([red, green, blue, alpha], at);
  return rgba;
}

export const png: CreateImage = (width, height, color = gray) =>
  encodePng({ width, height, data: pixels(width, height, color) });

/** Only the header of a lossless image, without image data. */
const webp: CreateImage = (width, height) => {
  const file = Buffer.alloc(30);
  file.write('RIFF\x16\0\0\0WEBPVP8L\x0a\0\0\0\x2f', 0, 'latin1');
  file.writeUInt32LE((width - 1) | ((height - 1) << 14), 21);
  return file;
};

/** 24 bits per pixel. */
const bmp: CreateImage = (width, height, [red, green, blue] = gray) => {
  const stride = Math.ceil((width * 3) / 4) * 4;
  const file = Buffer.alloc(54 + stride * height);
  file.write('BM', 0, 'latin1');
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(54, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(width, 18);
  file.writeInt32LE(height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(24, 28);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) file.set([blue, green, red], 54 + y * stride + x * 3);
  return file;
};

/** Codes of three bits. The table is cleared before each pixel, so that the code length does not increase. */
const gif: CreateImage = (width, height, [red, green, blue] = gray) => {
  const codes = new Uint8Array(width * height * 2 + 2).fill(4);
  for (let at = 1; at < codes.length; at += 2) codes[at] = 0;
  codes[codes.length - 1] = 5;
  const data = Buffer.alloc(Math.ceil((codes.length * 3) / 8));
  for (const [index, code] of codes.entries()) {
    for (let bit = 0; bit < 3; bit++) {
      const at = index * 3 + bit;
      data[at >> 3] = (data[at >> 3] ?? 0) | (((code >> bit) & 1) << (at & 7));
    }
  }
  const blocks: Buffer[] = [];
  for (let at = 0; at < data.length; at += 255) {
    const part = data.subarray(at, at + 255);
    blocks.push(Buffer.from([part.length]), part);
  }
  const size = Buffer.alloc(4);
  size.writeUInt16LE(width, 0);
  size.writeUInt16LE(height, 2);
  const palette = [red, green, blue, 0, 0, 0];
  return Buffer.concat([
    Buffer.from('GIF89a', 'latin1'),
    size,
    Buffer.from([0x80, 0, 0, ...palette]),
    Buffer.from([0x2c, 0, 0, 0, 0]),
    size,
    Buffer.from([0, 2]),
    ...blocks,
    Buffer.from([0, 0x3b]),
  ]);
};

/** Grayscale, 8 bits per pixel, in one strip. */
const tiff: CreateImage = (width, height) => {
  const entries = [
    [256, width],
    [257, height],
    [258, 8],
    [259, 1],
    [262, 1],
    [273, 8 + 2 + 9 * 12 + 4],
    [277, 1],
    [278, height],
    [279, width * height],
  ] as const;
  const head = Buffer.alloc(8 + 2 + entries.length * 12 + 4);
  head.write('II*\0', 0, 'latin1');
  head.writeUInt32LE(8, 4);
  head.writeUInt16LE(entries.length, 8);
  for (const [index, [tag, value]] of entries.entries()) {
    const at = 10 + index * 12;
    head.writeUInt16LE(tag, at);
    head.writeUInt16LE(4, at + 2);
    head.writeUInt32LE(1, at + 4);
    head.writeUInt32LE(value, at + 8);
  }
  return Buffer.concat([head, Buffer.alloc(width * height, 128)]);
};

/** Grayscale with a single color: the first block sets the brightness, and all other blocks have no difference. */
const jpeg: CreateImage = (width, height) => {
  const blocks = Math.ceil(width / 8) * Math.ceil(height / 8);
  const bits = `01${(100).toString(2).padStart(7, '0')}0${'000'.repeat(blocks - 1)}`;
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1');
  const data = Buffer.from(padded.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []);
  const segment = (marker: number, bytes: readonly number[]) =>
    Buffer.from([0xff, marker, (bytes.length + 2) >> 8, (bytes.length + 2) & 255, ...bytes]);
  const none = Array.from({ length: 14 }, () => 0);
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xdb, [0, ...Array.from({ length: 64 }, () => 8)]),
    segment(0xc0, [8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0]),
    segment(0xc4, [0x00, 0, 2, ...none, 0, 7]),
    segment(0xc4, [0x10, 1, 0, ...none, 0]),
    segment(0xda, [1, 1, 0, 0, 63, 0]),
    data,
    Buffer.from([0xff, 0xd9]),
  ]);
};

function box(type: string, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8, 0);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}

/** Only the boxes that describe the image, without image data. */
function heifWith(brand: string): CreateImage {
  return (width, height) => {
    const size = Buffer.alloc(12);
    size.writeUInt32BE(width, 4);
    size.writeUInt32BE(height, 8);
    return Buffer.concat([
      box('ftyp', Buffer.from(`${brand}\0\0\0\0mif1`, 'latin1')),
      box('meta', Buffer.alloc(4), box('iprp', box('ipco', box('ispe', size)))),
    ]);
  };
}

export const imageFiles = {
  jpeg,
  png,
  webp,
  bmp,
  tiff,
  gif,
  heic: heifWith('heic'),
  heif: heifWith('mif1'),
} as const;

/** Silence, 16 bits, mono. */
export function wav(seconds: number, sampleRate = 8000): Uint8Array {
  const samples = Math.round(seconds * sampleRate) * 2;
  const file = Buffer.alloc(44 + samples);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(36 + samples, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(sampleRate, 24);
  file.writeUInt32LE(sampleRate * 2, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(samples, 40);
  return file;
}

export async function mp3(seconds: number): Promise<Uint8Array> {
  const encoder = await createMp3Encoder();
  encoder.configure({ sampleRate: 16_000, channels: 1, bitrate: 32 });
  const body = Buffer.from(encoder.encode([new Float32Array(seconds * 16_000)]));
  return Buffer.concat([body, Buffer.from(encoder.finalize())]);
}

/** Default properties of a clip. */
export const plainClip: ClipPlan = {
  width: 854,
  height: 480,
  frameRate: 24,
  frames: 48,
  container: 'mp4',
  caption: 'A test',
  seed: 1,
  audio: false,
  watermark: false,
  references: [],
};

const videos = new Map<string, Promise<Uint8Array>>();

/** Creates a clip of 2 seconds by default. Identical clips are created only once. */
export async function video(change: Partial<ClipPlan> & { seconds?: number } = {}): Promise<Uint8Array> {
  const plan = { ...plainClip, ...change };
  const key = JSON.stringify(change);
  const made =
    videos.get(key) ?? renderClip({ ...plan, frames: Math.round((change.seconds ?? 2) * plan.frameRate) });
  videos.set(key, made);
  return await made;
}

/** Increases the size of an MP4 without changing its content. */
export function padded(file: Uint8Array, size: number): Uint8Array {
  return Buffer.concat([file, box('free', Buffer.alloc(size - file.length - 8))]);
}

export function dataUrl(type: string, bytes: Uint8Array): string {
  return `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
}
