/**
 * Encodes a stream of mono float samples in chunks. The returned bytes can be empty and are valid until the next call.
 */
export interface AudioEncoder {
  /** Samples per second that `encode` expects. Differs from the requested rate if the codec does not support it. */
  readonly inputRate: number;
  encode(samples: Float32Array): Uint8Array;
  /** Returns the rest of the stream. No call of `encode` can follow. */
  finish(): Uint8Array;
  /** Releases the encoder. Must be called exactly once. */
  release(): void;
}
