import { randomInt } from 'node:crypto';
import type { Rectangle } from '../media/drawing/yuv-picture.ts';
import type { ReadMask } from '../media/scenes/mask.ts';
import type { Layer, Picture, PictureSize, Scene } from '../media/scenes/scene.ts';
import type { Drawing, GridOrigin } from './image-job.ts';

/** Plans what the actions draw. A picture that comes from another one keeps its scenes, so what was seen stays. */

const perGrid = 4;
/** A view this many times as high as the first picture grows no more. */
const widest = 2 ** 16;
/** Of a longer row the first ones are forgotten: each of them is asked for everything that is drawn. */
const maxVariations = 16;

/** Four pictures of a prompt, or four variations of a picture. `seed` decides the first kind. */
export function planGrid(origin: GridOrigin, ratio: number, seed = randomSeed()): Drawing {
  const pictures = Array.from({ length: perGrid }, (_, index) =>
    'prompt' in origin
      ? firstPicture(origin, { arrangement: index, ratio, seed: seed + index })
      : vary(origin.picture, origin.strength),
  );
  return { pictures, ratio, scale: 1, origin };
}

/** One picture by itself, twice or four times as large as in a grid. */
export function planPicture(picture: Picture, ratio: number, scale: 2 | 4 = 2): Drawing {
  return { pictures: [picture], ratio, scale };
}

/** The same from near by: all that the dice decide is a little different. */
export function vary({ view, layers }: Picture, strength: number): Picture {
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

/** `factor` times as much is seen around the same middle; another prompt draws what is new. */
export function zoomOut({ view, layers }: Picture, factor: number, prompt?: string): Picture {
  const wanted = Math.min(factor, widest / view.height);
  const wider = { width: view.width * wanted, height: view.height * wanted };
  const around: Rectangle = {
    x: view.x - (wider.width - view.width) / 2,
    y: view.y - (wider.height - view.height) / 2,
    ...wider,
  };
  if (prompt === undefined) return { view: around, layers };
  const background: Layer = { scene: newScene(prompt, around) };
  return {
    view: around,
    layers: [background, ...layers.map((layer) => ({ area: { place: view }, ...layer }))],
  };
}

/** What lies beside: by shares of the picture's width and height. */
export function pan({ view, layers }: Picture, { across, down }: { across: number; down: number }): Picture {
  return { view: { ...view, x: view.x + across * view.width, y: view.y + down * view.height }, layers };
}

/** Draws a prompt where the mask has chosen pixels; everything else stays as it is. */
export function repaint({ view, layers }: Picture, prompt: string, { mask, bounds }: ReadMask): Picture {
  const frame: Rectangle = {
    x: view.x + bounds.x * view.width,
    y: view.y + bounds.y * view.height,
    width: bounds.width * view.width,
    height: bounds.height * view.height,
  };
  return { view, layers: [...layers, { scene: newScene(prompt, frame), area: { place: view, mask } }] };
}

/** Pixels of each picture of a drawing. `side`: that of a square one in a grid. */
export function sizeOf({ ratio, scale }: Pick<Drawing, 'ratio' | 'scale'>, side: number): PictureSize {
  const across = (value: number) => Math.max(8, Math.round((side * value) / 8) * 8) * scale;
  return { width: across(Math.sqrt(ratio)), height: across(1 / Math.sqrt(ratio)) };
}

function firstPicture(
  { prompt, references }: { prompt: string; references: readonly Uint8Array[] },
  { arrangement, ratio, seed }: { arrangement: number; ratio: number; seed: number },
): Picture {
  const frame: Rectangle = { x: 0, y: 0, width: ratio, height: 1 };
  return { view: frame, layers: [{ scene: { ...newScene(prompt, frame), seed, arrangement, references } }] };
}

function newScene(prompt: string, frame: Rectangle): Scene {
  const seed = randomSeed();
  return { prompt, seed, arrangement: seed % perGrid, variations: [], references: [], frame };
}

function randomSeed(): number {
  return randomInt(2 ** 31);
}
