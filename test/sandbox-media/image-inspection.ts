import { PNG } from 'pngjs';

/** A decoded PNG. */
export interface Pixels {
  width: number;
  height: number;
  /** RGBA, by row. */
  data: Uint8Array;
}

export function decode(png: Uint8Array): Pixels {
  const { width, height, data } = PNG.sync.read(Buffer.from(png));
  return { width, height, data };
}

/** Returns a part of an image. */
export function crop(
  { width: from, data }: Pixels,
  { x, y, width, height }: { x: number; y: number; width: number; height: number },
): Pixels {
  const part = new Uint8Array(width * height * 4);
  for (let row = 0; row < height; row++) {
    const start = ((y + row) * from + x) * 4;
    part.set(data.subarray(start, start + width * 4), row * width * 4);
  }
  return { width, height, data: part };
}

/** Returns one of the four images of a grid, from 0. */
export function quadrant(grid: Pixels, index: number): Pixels {
  const [width, height] = [grid.width / 2, grid.height / 2];
  return crop(grid, { x: (index % 2) * width, y: Math.floor(index / 2) * height, width, height });
}

/** Scales an image down by averaging. The new side must divide the old ones. */
export function shrink(image: Pixels, width: number): Pixels {
  const factor = image.width / width;
  const height = image.height / factor;
  const data = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let channel = 0; channel < 4; channel++) {
        let sum = 0;
        for (let row = 0; row < factor; row++)
          for (let column = 0; column < factor; column++)
            sum += image.data[((y * factor + row) * image.width + x * factor + column) * 4 + channel] ?? 0;
        data[(y * width + x) * 4 + channel] = sum / factor ** 2;
      }
    }
  }
  return { width, height, data };
}

/** Returns the mean difference of the colors, from 0 to 255. */
export function difference(first: Pixels, second: Pixels): number {
  if (first.width !== second.width || first.height !== second.height) throw new Error('The sizes differ');
  let sum = 0;
  for (const [at, value] of first.data.entries()) sum += Math.abs(value - (second.data[at] ?? 0));
  return sum / (first.width * first.height * 3);
}

/** Returns which pixels differ, by row. */
export function changedPixels(first: Pixels, second: Pixels): boolean[] {
  return Array.from({ length: first.width * first.height }, (_, index) => {
    const at = index * 4;
    return [0, 1, 2].some((channel) => first.data[at + channel] !== second.data[at + channel]);
  });
}
