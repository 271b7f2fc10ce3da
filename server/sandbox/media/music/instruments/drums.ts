import { createRandom } from '../../drawing/random.ts';
import type { DrumName } from './names.ts';
import { sine, songRate } from './tone.ts';

/** A drum stroke: an oscillator with a falling pitch, and noise. */
interface DrumPatch {
  /** `tone` is the final frequency in Hz, `fall` the ratio of the initial frequency to it. */
  tone: number;
  pitchRatio: number;
  /** Time constant of the tone in seconds. */
  toneDecay: number;
  /** Level of the noise relative to a tone of 1, or alone if `tone` is 0. */
  noise: number;
  /** Time constant of the noise in seconds. */
  noiseDecay: number;
  /** High-pass filter of the noise: 0 passes everything, 1 only the highest frequencies. */
  highPass: number;
}

const patches: Readonly<Record<DrumName, DrumPatch>> = {
  kick: { tone: 48, pitchRatio: 4, toneDecay: 0.13, noise: 0.12, noiseDecay: 0.006, highPass: 0.2 },
  snare: { tone: 185, pitchRatio: 1.4, toneDecay: 0.06, noise: 0.8, noiseDecay: 0.09, highPass: 0.5 },
  hat: { tone: 0, pitchRatio: 1, toneDecay: 0.01, noise: 0.5, noiseDecay: 0.025, highPass: 0.97 },
  openHat: { tone: 0, pitchRatio: 1, toneDecay: 0.01, noise: 0.5, noiseDecay: 0.11, highPass: 0.97 },
  ride: { tone: 5200, pitchRatio: 1, toneDecay: 0.12, noise: 0.6, noiseDecay: 0.16, highPass: 0.98 },
  clap: { tone: 0, pitchRatio: 1, toneDecay: 0.01, noise: 0.8, noiseDecay: 0.06, highPass: 0.8 },
  tom: { tone: 95, pitchRatio: 1.7, toneDecay: 0.17, noise: 0.1, noiseDecay: 0.02, highPass: 0.3 },
  shaker: { tone: 0, pitchRatio: 1, toneDecay: 0.01, noise: 0.3, noiseDecay: 0.035, highPass: 0.96 },
  tambourine: { tone: 7400, pitchRatio: 1, toneDecay: 0.05, noise: 0.5, noiseDecay: 0.06, highPass: 0.97 },
  conga: { tone: 235, pitchRatio: 1.25, toneDecay: 0.1, noise: 0.12, noiseDecay: 0.008, highPass: 0.4 },
  timpani: { tone: 73, pitchRatio: 1.15, toneDecay: 0.5, noise: 0.1, noiseDecay: 0.02, highPass: 0.2 },
};

/** Synthesizes one stroke as mono samples. The seed determines the noise. */
export function synthesizeStroke(name: DrumName, seed: number): Float32Array {
  const { tone, pitchRatio, toneDecay, noise, noiseDecay, highPass } = patches[name];
  const random = createRandom(seed);
  const samples = new Float32Array(Math.round(6 * Math.max(toneDecay, noiseDecay) * songRate));
  let [phase, low] = [0, 0];
  for (let index = 0; index < samples.length; index++) {
    const time = index / songRate;
    const white = 2 * random() - 1;
    low += (1 - highPass) * (white - low);
    const body = tone === 0 ? 0 : Math.exp(-time / toneDecay) * sine(phase);
    samples[index] = body + noise * Math.exp(-time / noiseDecay) * (white - low);
    phase += (tone * (1 + (pitchRatio - 1) * Math.exp(-time / 0.03))) / songRate;
  }
  return samples;
}
