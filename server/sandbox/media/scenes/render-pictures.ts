import type { Rectangle } from '../drawing/yuv-picture.ts';
import { encodePng } from '../pictures/encode.ts';
import { drawScene } from './draw-scene.ts';
import { chosenPixels } from './mask.ts';
import type { Layer, Picture, PictureSize } from './scene.ts';

/** One picture, or several in rows of two, as one PNG. `size` is that of each. */
export async function renderPictures({
  pictures,
  size,
}: {
  pictures: readonly Picture[];
  size: PictureSize;
}): Promise<Uint8Array<ArrayBuffer>> {
  const columns = Math.min(2, pictures.length);
  const [width, height] = [size.width * columns, size.height * Math.ceil(pictures.length / columns)];
  const data = new Uint8Array(width * height * 4);
  for (const [index, picture] of pictures.entries()) {
    const pixels = await renderPicture(picture, size);
    const [left, top] = [(index % columns) * size.width, Math.floor(index / columns) * size.height];
    for (let row = 0; row < size.height; row++)
      data.set(
        pixels.subarray(row * size.width * 4, (row + 1) * size.width * 4),
        ((top + row) * width + left) * 4,
      );
  }
  return encodePng({ width, height, data });
}

/** RGBA pixels of all layers over one another. */
async function renderPicture({ view, layers }: Picture, size: PictureSize): Promise<Uint8Array> {
  const pixels = new Uint8Array(size.width * size.height * 4);
  for (const { scene, area } of layers) lay(await drawScene(scene, view, size), pixels, { area, view, size });
  return pixels;
}

/** Copies the pixels whose middle is in the area. */
function lay(
  from: Uint8Array,
  to: Uint8Array,
  { area, view, size }: { area: Layer['area']; view: Rectangle; size: PictureSize },
): void {
  if (!area) return to.set(from);
  const { place, mask } = area;
  const chosen = mask && chosenPixels(mask);
  const [across, down] = [mask?.width ?? 1, mask?.height ?? 1];
  // Where each column and each row of the picture lies in the mask.
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
