import { deflateSync, inflateSync } from 'node:zlib';
import { imageSize } from 'image-size';
import type { Rectangle } from '../drawing/yuv-frame.ts';
import { imageElement, rasterize, svgElement } from '../images/rasterize.ts';
import type { ImageSize, Mask } from './scene.ts';

/** A decoded mask, and the bounding box of its selected pixels as fractions of the image. */
export interface DecodedMask {
  mask: Mask;
  bounds: Rectangle;
}

/** Reason why a mask is invalid: not a PNG, too large, another aspect ratio than the image, or nothing selected. */
export type MaskError = 'format' | 'size' | 'shape' | 'empty';

const maxSide = 4096;
/** Allowed difference of the aspect ratios, for rounding to whole pixels. */
const tolerance = 0.01;

/** Reads the PNG of a mask for an image of that size. Opaque pixels lighter than medium gray are selected. */
export async function readMask({
  bytes,
  image,
}: {
  bytes: Uint8Array;
  image: ImageSize;
}): Promise<DecodedMask | MaskError> {
  const size = readPngSize(bytes);
  if (!size) return 'format';
  if (Math.max(size.width, size.height) > maxSide) return 'size';
  const proportion = (size.width * image.height) / (size.height * image.width);
  if (Math.abs(proportion - 1) > tolerance) return 'shape';
  const svg = svgElement(size, imageElement(bytes, 'image/png', { x: 0, y: 0, ...size }, 'none'));
  const pixels = await rasterize(svg, (raster) => Uint8Array.from(raster.pixels));
  return selectPixels(pixels, size, image);
}

/** Scales the mask to the size of the image. The colors are already premultiplied by alpha. */
function selectPixels(
  pixels: Uint8Array,
  size: ImageSize,
  { width, height }: ImageSize,
): DecodedMask | MaskError {
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

/** Returns one byte per pixel of a mask: 1 where it is selected. */
export function selectedPixels({ chosen }: Mask): Uint8Array {
  return inflateSync(chosen);
}

function readPngSize(bytes: Uint8Array): ImageSize | undefined {
  try {
    const { type, width, height } = imageSize(bytes);
    return type === 'png' && width > 0 && height > 0 ? { width, height } : undefined;
  } catch {
    return undefined;
  }
}
