/** Encodes one stream of mono floats piece by piece. Returned bytes may be empty and hold until the next call. */
export interface AudioEncoder {
  /** Samples a second that `encode` expects; differs from the asked rate where the codec does not know that rate. */
  readonly inputRate: number;
  encode(samples: Float32Array): Uint8Array;
  /** The rest of the stream; nothing may follow. */
  finish(): Uint8Array;
  /** Gives back what the encoder holds; called exactly once. */
  release(): void;
}
