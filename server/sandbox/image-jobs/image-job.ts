import type { SceneImage } from '../media/scenes/scene.ts';

export type Action = 'IMAGINE' | 'UPSCALE' | 'VARIATION' | 'REROLL' | 'ZOOM' | 'PAN' | 'INPAINT';

/** Images of a job, determined on submission. Stored on disk. */
export interface Drawing {
  /** Four for a grid, otherwise one. */
  pictures: readonly SceneImage[];
  /** Aspect ratio of each image, width to height. */
  ratio: number;
  /** Width of each image relative to an image of a grid. */
  scale: 1 | 2 | 4;
  /** Source for another grid of the same kind. */
  origin?: GridOrigin;
}

/** Four images of a prompt, or four variations of an image. */
export type GridOrigin =
  | { prompt: string; references: readonly Uint8Array[] }
  | { picture: SceneImage; strength: number };

/** A submitted job. Stored on disk. */
export interface ImageJob {
  action: Action;
  prompt: string;
  description: string;
  /** Returned unchanged. */
  state: string | undefined;
  /** Set if the job was created with a button. */
  customId: string | undefined;
  /** Milliseconds since the epoch. */
  submittedAt: number;
  /** Makes the customIds of its buttons unique. */
  hash: string;
  drawing: Drawing;
}
