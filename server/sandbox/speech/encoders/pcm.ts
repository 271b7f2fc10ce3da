import type { AudioSettings } from '../commands.ts';
import { toPcm16 } from '../level.ts';
import type { AudioEncoder } from './encoder.ts';

/** Bare 16-bit little-endian samples. */
export function createPcmEncoder({ sampleRate, channels }: AudioSettings): AudioEncoder {
  return {
    inputRate: sampleRate,
    encode: (samples) => toPcm16(samples, channels),
    finish: () => new Uint8Array(),
    release: () => {},
  };
}
