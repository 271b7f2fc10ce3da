import type { Rectangle } from '../drawing/yuv-frame.ts';

/**
 * An unbounded plane that is determined by a prompt and a seed. Each part of it always looks the same, at any zoom
 * level. Images are views of scenes.
 */
export interface Scene {
  prompt: string;
  seed: number;
  /** Index of the arrangement in a grid of four images, from 0. */
  arrangement: number;
  /** Changes of everything that the seed determines, applied in order. `strength` is from 0 to 1. */
  variations: readonly { seed: number; strength: number }[];
  /** Small PNGs that are shown in the scene and determine its colors. */
  references: readonly Uint8Array[];
  /** The part of the plane that the composition is made for, with the subject in it. */
  frame: Rectangle;
}

/** A selection of pixels of an image. */
export interface Mask {
  width: number;
  height: number;
  /** One byte per pixel, by row, deflated: 1 where it is selected. */
  chosen: Uint8Array;
}

/**
 * A scene and its visible area: everywhere, a rectangle of the plane, or the selected pixels of a mask in that
 * rectangle.
 */
export interface Layer {
  scene: Scene;
  area?: { place: Rectangle; mask?: Mask };
}

/**
 * A rectangle of the plane with its scenes, the lowest layer first. The first image of a prompt has a height of 1, at
 * 0, 0.
 */
export interface SceneImage {
  view: Rectangle;
  layers: readonly Layer[];
}

/** In pixels. */
export interface ImageSize {
  width: number;
  height: number;
}
