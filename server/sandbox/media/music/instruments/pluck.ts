import { chance } from '../../drawing/chance.ts';
import { type Play, songRate } from './tone.ts';

export interface PluckPatch {
  /** Seconds in which the fundamental fades to a thousandth. */
  ring: number;
  /** 0 is dull, 1 as bright as a string can be. */
  brightness: number;
  /** Seconds in which a hand stops the string. */
  release: number;
}

/** A plucked string: noise that runs around a delay line and loses its treble on the way. */
export function pluck({ ring, brightness, release }: PluckPatch): Play {
  const smoothing = 0.5 - 0.45 * brightness;
  return (into, at, { frequency, seconds, velocity }) => {
    // The smoothing delays, too, and an all-pass filter adds what is missing to a whole number of samples.
    const wanted = songRate / frequency - smoothing;
    const length = Math.max(2, Math.floor(wanted - 0.1));
    const allPass = (1 - (wanted - length)) / (1 + (wanted - length));
    const line = excite(length, 0.2 + 0.8 * brightness * (0.4 + 0.6 * velocity), Math.round(frequency * 100));
    const keep = 10 ** (-3 / (frequency * ring));
    const stop = at + Math.round(seconds * songRate);
    const end = Math.min(into.length, stop + Math.round(release * songRate));
    const fading = velocity / (release * songRate);
    let [place, lastOut, lastIn, passed, level] = [0, 0, 0, 0, velocity];
    for (let index = at; index < end; index++) {
      const out = line[place] ?? 0;
      const smooth = keep * ((1 - smoothing) * out + smoothing * lastOut);
      passed = allPass * (smooth - passed) + lastIn;
      lastIn = smooth;
      lastOut = out;
      line[place] = passed;
      place = place + 1 === length ? 0 : place + 1;
      if (index > stop) level = Math.max(0, level - fading);
      into[index] = (into[index] ?? 0) + level * out;
    }
  };
}

/** Noise for one period, without a mean, of half the power of a sine. */
function excite(length: number, brightness: number, seed: number): Float32Array {
  const next = chance(seed);
  const line = new Float32Array(length);
  let smooth = 0;
  for (let index = 0; index < length; index++) {
    smooth += brightness * (2 * next() - 1 - smooth);
    line[index] = smooth;
  }
  const mean = line.reduce((sum, value) => sum + value, 0) / length;
  const power = line.reduce((sum, value) => sum + (value - mean) ** 2, 0) / length;
  return line.map((value) => (value - mean) / (2 * Math.sqrt(power) + 1e-9));
}
