import { randomInt } from 'node:crypto';
import type { Rectangle } from '../media/drawing/yuv-frame.ts';
import type { DecodedMask } from '../media/scenes/mask.ts';
import type { ImageSize, Layer, Scene, SceneImage } from '../media/scenes/scene.ts';
import type { Drawing, GridOrigin } from './image-job.ts';

/**
 * Plans the images of all actions. A derived image keeps the scenes of its source, so that existing content stays the
 * same.
 */

const imagesPerGrid = 4;
/** Maximum height of a view, as a multiple of the first image. */
const maxViewHeight = 2 ** 16;
/** Maximum number of variations. The oldest are dropped, because drawing evaluates each of them for every element. */
const maxVariations = 16;

/** Plans four images of a prompt, or four variations of an image. `seed` only applies to a prompt. */
export function planGrid(origin: GridOrigin, ratio: number, seed = randomSeed()): Drawing {
  const pictures = Array.from({ length: imagesPerGrid }, (_, index) =>
    'prompt' in origin
      ? createFirstImage(origin, { arrangement: index, ratio, seed: seed + index })
      : vary(origin.picture, origin.strength),
  );
  return { pictures, ratio, scale: 1, origin };
}

/** Plans a single image, twice or four times as large as in a grid. */
export function planImage(image: SceneImage, ratio: number, scale: 2 | 4 = 2): Drawing {
  return { pictures: [image], ratio, scale };
}

/** Creates a variation with small changes to all random properties. */
export function vary({ view, layers }: SceneImage, strength: number): SceneImage {
  if (strength === 0) return { view, layers };
  const variation = { seed: randomSeed(), strength };
  return {
    view,
    layers: layers.map(({ scene, ...layer }) => ({
      ...layer,
      scene: { ...scene, variations: [...scene.variations.slice(1 - maxVariations), variation] },
    })),
  };
}

/** Extends the view by `factor` around its center. A different prompt draws the new area. */
export function zoomOut({ view, layers }: SceneImage, factor: number, prompt?: string): SceneImage {
  const zoom = Math.min(factor, maxViewHeight / view.height);
  const wider = { width: view.width * zoom, height: view.height * zoom };
  const around: Rectangle = {
    x: view.x - (wider.width - view.width) / 2,
    y: view.y - (wider.height - view.height) / 2,
    ...wider,
  };
  if (prompt === undefined) return { view: around, layers };
  const background: Layer = { scene: createScene(prompt, around) };
  return {
    view: around,
    layers: [background, ...layers.map((layer) => ({ area: { place: view }, ...layer }))],
  };
}

/** Moves the view by fractions of its width and height. */
export function pan(
  { view, layers }: SceneImage,
  { across, down }: { across: number; down: number },
): SceneImage {
  return { view: { ...view, x: view.x + across * view.width, y: view.y + down * view.height }, layers };
}

/** Draws a prompt in the selected pixels of the mask. All other pixels stay the same. */
export function inpaint(
  { view, layers }: SceneImage,
  prompt: string,
  { mask, bounds }: DecodedMask,
): SceneImage {
  const frame: Rectangle = {
    x: view.x + bounds.x * view.width,
    y: view.y + bounds.y * view.height,
    width: bounds.width * view.width,
    height: bounds.height * view.height,
  };
  return { view, layers: [...layers, { scene: createScene(prompt, frame), area: { place: view, mask } }] };
}

/** Returns the size of each image in pixels. `side` is the side of a square image in a grid. */
export function imageSize({ ratio, scale }: Pick<Drawing, 'ratio' | 'scale'>, side: number): ImageSize {
  const across = (value: number) => Math.max(8, Math.round((side * value) / 8) * 8) * scale;
  return { width: across(Math.sqrt(ratio)), height: across(1 / Math.sqrt(ratio)) };
}

function createFirstImage(
  { prompt, references }: { prompt: string; references: readonly Uint8Array[] },
  { arrangement, ratio, seed }: { arrangement: number; ratio: number; seed: number },
): SceneImage {
  const frame: Rectangle = { x: 0, y: 0, width: ratio, height: 1 };
  return {
    view: frame,
    layers: [{ scene: { ...createScene(prompt, frame), seed, arrangement, references } }],
  };
}

function createScene(prompt: string, frame: Rectangle): Scene {
  const seed = randomSeed();
  return { prompt, seed, arrangement: seed % imagesPerGrid, variations: [], references: [], frame };
}

function randomSeed(): number {
  return randomInt(2 ** 31);
}
