/** A tile in a clip that shows media of the request. */
export interface Reference {
  /** Text at the bottom of the tile, for example `VIDEO 1280x720 5.0s`. */
  label: string;
  /** PNG. Without it, the tile has a plain background. */
  image?: Uint8Array;
}

/** All inputs of a clip. The same plan always produces the same frames and audio. */
export interface ClipPlan {
  /** In pixels. Both must be even. */
  width: number;
  height: number;
  /** Frames per second. */
  frameRate: number;
  /** Length in frames. */
  frames: number;
  container: 'mp4' | 'mov';
  caption: string;
  seed: number;
  audio: boolean;
  watermark: boolean;
  /** PNG that fills the frame at the start. */
  firstFrame?: Uint8Array;
  /** PNG that fills the frame at the end. */
  lastFrame?: Uint8Array;
  references: readonly Reference[];
}

export type FrameSize = Pick<ClipPlan, 'width' | 'height'>;
