import type { Rectangle } from '../drawing/yuv-frame.ts';
import { encodePng } from '../images/encode.ts';
import { drawScene } from './draw-scene.ts';
import { selectedPixels } from './mask.ts';
import type { ImageSize, Layer, SceneImage } from './scene.ts';

/** Renders one image, or several in rows of two, as one PNG. `size` is the size of each image. */
export async function renderImages({
  images,
  size,
}: {
  images: readonly SceneImage[];
  size: ImageSize;
}): Promise<Uint8Array<ArrayBuffer>> {
  const columns = Math.min(2, images.length);
  const [width, height] = [size.width * columns, size.height * Math.ceil(images.length / columns)];
  const data = new Uint8Array(width * height * 4);
  for (const [index, image] of images.entries()) {
    const pixels = await renderImage(image, size);
    const [left, top] = [(index % columns) * size.width, Math.floor(index / columns) * size.height];
    for (let row = 0; row < size.height; row++)
      data.set(
        pixels.subarray(row * size.width * 4, (row + 1) * size.width * 4),
        ((top + row) * width + left) * 4,
      );
  }
  return encodePng({ width, height, data });
}

/** Returns the RGBA pixels of all layers, drawn in order. */
async function renderImage({ view, layers }: SceneImage, size: ImageSize): Promise<Uint8Array> {
  const pixels = new Uint8Array(size.width * size.height * 4);
  for (const { scene, area } of layers)
    copyPixels(await drawScene(scene, view, size), pixels, { area, view, size });
  return pixels;
}

/** Copies the pixels whose center is in the area. */
function copyPixels(
  from: Uint8Array,
  to: Uint8Array,
  { area, view, size }: { area: Layer['area']; view: Rectangle; size: ImageSize },
): void {
  if (!area) return to.set(from);
  const { place, mask } = area;
  const chosen = mask && selectedPixels(mask);
  const [across, down] = [mask?.width ?? 1, mask?.height ?? 1];
  // Maps the columns of the image to columns of the mask.
  const columns = Array.from({ length: size.width }, (_, x) =>
    Math.floor(((view.x + ((x + 0.5) / size.width) * view.width - place.x) / place.width) * across),
  );
  for (let y = 0; y < size.height; y++) {
    const row = Math.floor(
      ((view.y + ((y + 0.5) / size.height) * view.height - place.y) / place.height) * down,
    );
    if (row < 0 || row >= down) continue;
    for (const [x, column] of columns.entries()) {
      if (column < 0 || column >= across || chosen?.[row * across + column] === 0) continue;
      const at = (y * size.width + x) * 4;
      to.set(from.subarray(at, at + 4), at);
    }
  }
}
