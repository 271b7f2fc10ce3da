import { createRandom } from '../../drawing/random.ts';
import { type PlayNote, songRate } from './tone.ts';

export interface PluckPatch {
  /** Time in seconds until the fundamental has decayed to a thousandth. */
  decay: number;
  /** 0 is dull, 1 as bright as possible. */
  brightness: number;
  /** Time in seconds in which the string is damped. */
  release: number;
}

/** Karplus-Strong synthesis of a plucked string: noise circulates in a delay line with a low-pass filter. */
export function createPluck({ decay, brightness, release }: PluckPatch): PlayNote {
  const smoothing = 0.5 - 0.45 * brightness;
  return (into, at, { frequency, seconds, velocity }) => {
    // The low-pass filter adds a delay. An all-pass filter adds the rest to a whole number of samples.
    const exactLength = songRate / frequency - smoothing;
    const length = Math.max(2, Math.floor(exactLength - 0.1));
    const allPass = (1 - (exactLength - length)) / (1 + (exactLength - length));
    const line = createExcitation(
      length,
      0.2 + 0.8 * brightness * (0.4 + 0.6 * velocity),
      Math.round(frequency * 100),
    );
    const feedback = 10 ** (-3 / (frequency * decay));
    const stop = at + Math.round(seconds * songRate);
    const end = Math.min(into.length, stop + Math.round(release * songRate));
    const fading = velocity / (release * songRate);
    let [position, lastOut, lastIn, passed, level] = [0, 0, 0, 0, velocity];
    for (let index = at; index < end; index++) {
      const out = line[position] ?? 0;
      const smooth = feedback * ((1 - smoothing) * out + smoothing * lastOut);
      passed = allPass * (smooth - passed) + lastIn;
      lastIn = smooth;
      lastOut = out;
      line[position] = passed;
      position = position + 1 === length ? 0 : position + 1;
      if (index > stop) level = Math.max(0, level - fading);
      into[index] = (into[index] ?? 0) + level * out;
    }
  };
}

/** Creates noise for one period, without DC offset, with half the power of a sine. */
function createExcitation(length: number, brightness: number, seed: number): Float32Array {
  const random = createRandom(seed);
  const line = new Float32Array(length);
  let smooth = 0;
  for (let index = 0; index < length; index++) {
    smooth += brightness * (2 * random() - 1 - smooth);
    line[index] = smooth;
  }
  const mean = line.reduce((sum, value) => sum + value, 0) / length;
  const power = line.reduce((sum, value) => sum + (value - mean) ** 2, 0) / length;
  return line.map((value) => (value - mean) / (2 * Math.sqrt(power) + 1e-9));
}
