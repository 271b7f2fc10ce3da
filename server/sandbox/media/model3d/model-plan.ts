/** All that decides a 3D model. */
export interface ModelPlan {
  /** Decides shape and colours; empty when the model is made from pictures. */
  prompt: string;
  /** PNGs of the front, the left, the back and the right side. */
  views: readonly (Uint8Array | undefined)[];
  /** Width of the texture in pixels; undefined for a model without one. */
  textureSize: number | undefined;
  /** Physically based materials. */
  pbr: boolean;
  /** A finer mesh. */
  fine: boolean;
}
