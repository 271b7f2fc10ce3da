import { deflateSync, inflateSync } from 'node:zlib';
import { imageSize } from 'image-size';
import type { Rectangle } from '../drawing/yuv-picture.ts';
import { imageElement, rasterize, svgElement } from '../pictures/rasterize.ts';
import type { Mask, PictureSize } from './scene.ts';

/** A mask that was read, and the smallest rectangle around what it chooses, in shares of the picture. */
export interface ReadMask {
  mask: Mask;
  bounds: Rectangle;
}

/** What is wrong with a mask: no PNG, too large, of another shape than the picture, or nothing is chosen in it. */
export type MaskProblem = 'format' | 'size' | 'shape' | 'empty';

const maxSide = 4096;
/** Share by which the proportions may differ, from rounding to whole pixels. */
const tolerance = 0.01;

/** Reads the PNG of a mask for a picture of that size. Chosen is what is white, or lighter than grey, and opaque. */
export async function readMask({
  bytes,
  picture,
}: {
  bytes: Uint8Array;
  picture: PictureSize;
}): Promise<ReadMask | MaskProblem> {
  const size = sizeOf(bytes);
  if (!size) return 'format';
  if (Math.max(size.width, size.height) > maxSide) return 'size';
  const proportion = (size.width * picture.height) / (size.height * picture.width);
  if (Math.abs(proportion - 1) > tolerance) return 'shape';
  const svg = svgElement(size, imageElement(bytes, 'image/png', { x: 0, y: 0, ...size }, 'none'));
  const pixels = await rasterize(svg, (raster) => Uint8Array.from(raster.pixels));
  return choose(pixels, size, picture);
}

/** Which pixels of the picture the mask's pixels choose. The colours are already multiplied by alpha. */
function choose(
  pixels: Uint8Array,
  size: PictureSize,
  { width, height }: PictureSize,
): ReadMask | MaskProblem {
  const chosen = new Uint8Array(width * height);
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let y = 0; y < height; y++) {
    const row = Math.floor(((y + 0.5) * size.height) / height) * size.width;
    for (let x = 0; x < width; x++) {
      const at = (row + Math.floor(((x + 0.5) * size.width) / width)) * 4;
      const light =
        0.2126 * (pixels[at] ?? 0) + 0.7152 * (pixels[at + 1] ?? 0) + 0.0722 * (pixels[at + 2] ?? 0);
      if (light < 128) continue;
      chosen[y * width + x] = 1;
      [left, top] = [Math.min(left, x), Math.min(top, y)];
      [right, bottom] = [Math.max(right, x), Math.max(bottom, y)];
    }
  }
  if (right < 0) return 'empty';
  return {
    mask: { width, height, chosen: new Uint8Array(deflateSync(chosen)) },
    bounds: {
      x: left / width,
      y: top / height,
      width: (right + 1 - left) / width,
      height: (bottom + 1 - top) / height,
    },
  };
}

/** One byte a pixel of a mask: 1 where it is chosen. */
export function chosenPixels({ chosen }: Mask): Uint8Array {
  return inflateSync(chosen);
}

function sizeOf(bytes: Uint8Array): PictureSize | undefined {
  try {
    const { type, width, height } = imageSize(bytes);
    return type === 'png' && width > 0 && height > 0 ? { width, height } : undefined;
  } catch {
    return undefined;
  }
}
