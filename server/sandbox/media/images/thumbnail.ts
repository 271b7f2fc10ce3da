import { imageSize } from 'image-size';
import type { Jobs } from '../jobs.ts';
import { encodePng } from './encode.ts';
import { imageElement, rasterize, svgElement } from './rasterize.ts';

/** Default for the longest side of a thumbnail. */
const defaultMaxSide = 960;
/** Decoding needs four bytes per pixel of WebAssembly memory, which is never released. */
const maxPixels = 40_000_000;
/** Formats that the rasterizer decodes. */
const types: Readonly<Record<string, string>> = { png: 'image/png', jpg: 'image/jpeg', gif: 'image/gif' };

/** Decodes PNG, JPEG, GIF and uncompressed BMP. A completely transparent image is reported as damaged. */
export async function readThumbnail({
  bytes,
  format,
  maxSide = defaultMaxSide,
}: Jobs['readThumbnail']['input']): Promise<Jobs['readThumbnail']['output']> {
  const { width, height } = imageSize(bytes);
  if (width * height > maxPixels) return 'unsupported';
  const source = format === 'bmp' ? bmpToPng(bytes) : bytes;
  const type = format === 'bmp' ? 'image/png' : types[format];
  if (!source || !type) return 'unsupported';
  const scale = Math.min(1, maxSide / Math.max(width, height));
  const size = {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  };
  const svg = svgElement(size, imageElement(source, type, { x: 0, y: 0, ...size }, 'none'));
  return await rasterize(svg, (raster) => {
    const { pixels } = raster;
    let [min, max] = [255, 0];
    for (let at = 3; at < pixels.length; at += 4) {
      min = Math.min(min, pixels[at] ?? 0);
      max = Math.max(max, pixels[at] ?? 0);
    }
    return max === 0 ? 'damaged' : { png: new Uint8Array(raster.asPng()), isTransparent: min < 250 };
  });
}

const uncompressed = 0;
const withMasks = 3;

/**
 * Converts an uncompressed BMP with 24 or 32 bits per pixel to PNG. Returns undefined for other types and damaged
 * files.
 */
function bmpToPng(bytes: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
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

  const data = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++) {
    // A positive height means that the bottom row comes first.
    const row = start + (signedHeight > 0 ? height - 1 - y : y) * stride;
    for (let x = 0; x < width; x++) {
      const from = row + x * depth;
      data.set([file[from + 2] ?? 0, file[from + 1] ?? 0, file[from] ?? 0, 255], (y * width + x) * 4);
    }
  }
  return encodePng({ width, height, data });
}
