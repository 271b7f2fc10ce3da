/** One tile in a clip that shows something the request referred to. */
export interface Reference {
  /** Shown at the foot of the tile, for example `VIDEO 1280x720 5.0s`. */
  label: string;
  /** A PNG. Without it the tile is plain. */
  picture?: Uint8Array;
}

/** All that decides a clip: the same plan always gives the same pictures and sound. */
export interface ClipPlan {
  /** In pixels, both even. */
  width: number;
  height: number;
  /** Frames a second. */
  frameRate: number;
  /** Length in frames. */
  frames: number;
  container: 'mp4' | 'mov';
  caption: string;
  seed: number;
  audio: boolean;
  watermark: boolean;
  /** PNG that fills the picture at first. */
  firstFrame?: Uint8Array;
  /** PNG that has filled the picture at the end. */
  lastFrame?: Uint8Array;
  references: readonly Reference[];
}

export type FrameSize = Pick<ClipPlan, 'width' | 'height'>;
