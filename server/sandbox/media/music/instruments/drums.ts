import { chance } from '../../drawing/chance.ts';
import type { DrumName } from './names.ts';
import { sine, songRate } from './tone.ts';

/** A stroke: a tone whose pitch falls, and noise. */
interface DrumPatch {
  /** Hertz at the end, and how many times as much at the beginning. */
  tone: number;
  fall: number;
  /** Seconds in which the tone falls to a third. */
  ring: number;
  /** Level of the noise beside a tone of 1, or alone where `tone` is 0. */
  noise: number;
  /** Seconds in which the noise falls to a third. */
  rustle: number;
  /** 0 lets all of the noise through, 1 only what is highest. */
  thin: number;
}

const patches: Readonly<Record<DrumName, DrumPatch>> = {
  kick: { tone: 48, fall: 4, ring: 0.13, noise: 0.12, rustle: 0.006, thin: 0.2 },
  snare: { tone: 185, fall: 1.4, ring: 0.06, noise: 0.8, rustle: 0.09, thin: 0.5 },
  hat: { tone: 0, fall: 1, ring: 0.01, noise: 0.5, rustle: 0.025, thin: 0.97 },
  openHat: { tone: 0, fall: 1, ring: 0.01, noise: 0.5, rustle: 0.11, thin: 0.97 },
  ride: { tone: 5200, fall: 1, ring: 0.12, noise: 0.6, rustle: 0.16, thin: 0.98 },
  clap: { tone: 0, fall: 1, ring: 0.01, noise: 0.8, rustle: 0.06, thin: 0.8 },
  tom: { tone: 95, fall: 1.7, ring: 0.17, noise: 0.1, rustle: 0.02, thin: 0.3 },
  shaker: { tone: 0, fall: 1, ring: 0.01, noise: 0.3, rustle: 0.035, thin: 0.96 },
  tambourine: { tone: 7400, fall: 1, ring: 0.05, noise: 0.5, rustle: 0.06, thin: 0.97 },
  conga: { tone: 235, fall: 1.25, ring: 0.1, noise: 0.12, rustle: 0.008, thin: 0.4 },
  timpani: { tone: 73, fall: 1.15, ring: 0.5, noise: 0.1, rustle: 0.02, thin: 0.2 },
};

/** One stroke as mono samples; the seed decides its noise. */
export function strike(name: DrumName, seed: number): Float32Array {
  const { tone, fall, ring, noise, rustle, thin } = patches[name];
  const next = chance(seed);
  const samples = new Float32Array(Math.round(6 * Math.max(ring, rustle) * songRate));
  let [phase, low] = [0, 0];
  for (let index = 0; index < samples.length; index++) {
    const time = index / songRate;
    const white = 2 * next() - 1;
    low += (1 - thin) * (white - low);
    const body = tone === 0 ? 0 : Math.exp(-time / ring) * sine(phase);
    samples[index] = body + noise * Math.exp(-time / rustle) * (white - low);
    phase += (tone * (1 + (fall - 1) * Math.exp(-time / 0.03))) / songRate;
  }
  return samples;
}
