import { encodePng } from './png.ts';

const uncompressed = 0;
const withMasks = 3;

/** Rewrites an uncompressed BMP of 24 or 32 bits a pixel as PNG; undefined for other kinds and broken files. */
export function bmpToPng(bytes: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (file.length < 54 || file.toString('latin1', 0, 2) !== 'BM') return undefined;
  const [width, signedHeight] = [file.readInt32LE(18), file.readInt32LE(22)];
  const [depth, compression] = [file.readUInt16LE(28) / 8, file.readUInt32LE(30)];
  if ((depth !== 3 && depth !== 4) || (compression !== uncompressed && compression !== withMasks))
    return undefined;
  const height = Math.abs(signedHeight);
  const stride = Math.ceil((width * depth) / 4) * 4;
  const start = file.readUInt32LE(10);
  if (width < 1 || height < 1 || file.length < start + stride * height) return undefined;

  const rgba = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++) {
    // A positive height means that the lowest row comes first.
    const row = start + (signedHeight > 0 ? height - 1 - y : y) * stride;
    for (let x = 0; x < width; x++) {
      const from = row + x * depth;
      rgba.set([file[from + 2] ?? 0, file[from + 1] ?? 0, file[from] ?? 0, 255], (y * width + x) * 4);
    }
  }
  return encodePng(rgba, width, height);
}
