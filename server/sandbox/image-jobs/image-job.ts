import type { Picture } from '../media/scenes/scene.ts';

export type Action = 'IMAGINE' | 'UPSCALE' | 'VARIATION' | 'REROLL' | 'ZOOM' | 'PAN' | 'INPAINT';

/** What a job draws, decided when it is submitted. */
export interface Drawing {
  /** Four of a grid, or one. */
  pictures: readonly Picture[];
  /** Width to height of each. */
  ratio: number;
  /** How many times wider each is than in a grid. */
  scale: 1 | 2 | 4;
  /** What another grid of the same kind is made from. */
  origin?: GridOrigin;
}

/** Four pictures of a prompt, or four variations of a picture. */
export type GridOrigin =
  | { prompt: string; references: readonly Uint8Array[] }
  | { picture: Picture; strength: number };

/** A job as it was submitted. */
export interface ImageJob {
  action: Action;
  prompt: string;
  description: string;
  /** Returned as it was given. */
  state: string | undefined;
  /** Of the button that it came from. */
  customId: string | undefined;
  /** Milliseconds since the epoch. */
  submittedAt: number;
  /** Makes the customIds of its buttons its own. */
  hash: string;
  drawing: Drawing;
}
