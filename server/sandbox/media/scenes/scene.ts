import type { Rectangle } from '../drawing/yuv-picture.ts';

/**
 * A world without edges that a prompt and a seed decide. However much of it is seen, from near or far, a place in it
 * always looks the same. Pictures are views of such worlds.
 */
export interface Scene {
  prompt: string;
  seed: number;
  /** Which of the four arrangements of a grid it has, from 0. */
  arrangement: number;
  /** Changes of all that the seed decides, one after the other; `strength` is from 0 to 1. */
  variations: readonly { seed: number; strength: number }[];
  /** Small PNGs that lend their colours and stand in it. */
  references: readonly Uint8Array[];
  /** The part of the plane that it is arranged for; its subject stands in there. */
  frame: Rectangle;
}

/** Pixels of a picture, chosen by a mask. */
export interface Mask {
  width: number;
  height: number;
  /** One byte a pixel, row by row, deflated: 1 where it is chosen. */
  chosen: Uint8Array;
}

/** A scene, and where it shows: everywhere, in a rectangle of the plane, or where a mask over that has chosen pixels. */
export interface Layer {
  scene: Scene;
  area?: { place: Rectangle; mask?: Mask };
}

/** A rectangle of the plane with scenes on it, the lowest first. The first picture of a prompt is 1 high, at 0, 0. */
export interface Picture {
  view: Rectangle;
  layers: readonly Layer[];
}

/** In pixels. */
export interface PictureSize {
  width: number;
  height: number;
}
