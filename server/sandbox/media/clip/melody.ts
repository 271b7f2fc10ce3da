import { createRandom } from '../drawing/random.ts';

/** Samples per second of the audio tracks. */
export const audioRate = 48_000;

const noteSeconds = 0.4;
/** Frequencies of a pentatonic scale, whose notes are all consonant. */
const scale = [261.63, 293.66, 329.63, 392, 440, 523.25];

/** Synthesizes plucked notes as mono samples in -1…1. */
export function synthesizeMelody(seconds: number, seed: number): Float32Array<ArrayBuffer> {
  const samples = new Float32Array(Math.round(seconds * audioRate));
  const random = createRandom(seed);
  const noteLength = noteSeconds * audioRate;
  for (let start = 0; start < samples.length; start += noteLength) {
    const frequency = scale[Math.floor(random() * scale.length)] ?? 440;
    const step = (2 * Math.PI * frequency) / audioRate;
    const end = Math.min(samples.length, start + noteLength);
    for (let index = start; index < end; index++) {
      const age = (index - start) / noteLength;
      samples[index] = 0.3 * (1 - age) ** 2 * Math.min(1, age * 50) * Math.sin((index - start) * step);
    }
  }
  return samples;
}
