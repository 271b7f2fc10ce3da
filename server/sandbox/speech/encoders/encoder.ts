import type { AudioSettings } from '../commands.ts';
import { createFlacEncoder } from './flac.ts';
import { createMp3Encoder } from './mp3.ts';
import { createOpusEncoder } from './opus.ts';
import { createPcmEncoder } from './pcm.ts';
import { createWavEncoder } from './wav.ts';

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

export async function createEncoder(settings: AudioSettings): Promise<AudioEncoder> {
  switch (settings.format) {
    case 'wav':
      return createWavEncoder(settings);
    case 'pcm':
      return createPcmEncoder(settings);
    case 'flac':
      return createFlacEncoder(settings);
    case 'mp3':
      return await createMp3Encoder(settings);
    case 'opus':
      return await createOpusEncoder(settings);
  }
}
