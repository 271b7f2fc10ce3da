import { imageSize } from 'image-size';
import type { Jobs } from '../jobs.ts';
import { bmpToPng } from './bmp.ts';
import { imageElement, rasterize, svgElement } from './rasterize.ts';

/** Longest side of a thumbnail. */
const longestSide = 960;
/** Decoding takes four bytes a pixel of a memory that is never given back. */
const mostPixels = 40_000_000;
/** Formats that the drawing library decodes. */
const types: Readonly<Record<string, string>> = { png: 'image/png', jpg: 'image/jpeg', gif: 'image/gif' };

/** Decodes PNG, JPEG, GIF and plain BMP. A picture of which nothing can be seen counts as damaged. */
export async function readThumbnail({
  bytes,
  format,
}: {
  bytes: Uint8Array;
  format: string;
}): Promise<Jobs['readThumbnail']['output']> {
  const { width, height } = imageSize(bytes);
  if (width * height > mostPixels) return 'unsupported';
  const source = format === 'bmp' ? bmpToPng(bytes) : bytes;
  const type = format === 'bmp' ? 'image/png' : types[format];
  if (!source || !type) return 'unsupported';
  const scale = Math.min(1, longestSide / Math.max(width, height));
  const size = {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  };
  const svg = svgElement(size, imageElement(source, type, { x: 0, y: 0, ...size }, 'none'));
  return await rasterize(svg, (raster) => {
    const { pixels } = raster;
    let [least, most] = [255, 0];
    for (let at = 3; at < pixels.length; at += 4) {
      least = Math.min(least, pixels[at] ?? 0);
      most = Math.max(most, pixels[at] ?? 0);
    }
    return most === 0 ? 'damaged' : { png: new Uint8Array(raster.asPng()), transparent: least < 250 };
  });
}
