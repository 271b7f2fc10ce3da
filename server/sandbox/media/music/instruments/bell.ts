import { type PlayNote, sine, songRate } from './tone.ts';

export interface BellPatch {
  /** Ratio of the modulator frequency to the carrier frequency. */
  ratio: number;
  /** Initial modulation depth in periods. */
  depth: number;
  /** Time constant of the modulation envelope in seconds. */
  modulationDecay: number;
  /** Time constant of the amplitude envelope in seconds. */
  decay: number;
  /** In seconds. */
  release: number;
}

/** Frequency modulation synthesis with one modulator, for bells, music boxes and electric pianos. */
export function createBell({ ratio, depth, modulationDecay, decay, release }: BellPatch): PlayNote {
  return (into, at, { frequency, seconds, velocity }) => {
    const pace = frequency / songRate;
    const stop = at + Math.round(seconds * songRate);
    const end = Math.min(into.length, stop + Math.round(release * songRate));
    const darken = Math.exp(-1 / (modulationDecay * songRate));
    const fade = Math.exp(-1 / (decay * songRate));
    const stopping = Math.exp(-4 / (release * songRate));
    // The offset of 8 periods keeps the phase positive.
    let [phase, reach, level, rise] = [8, depth * (0.5 + 0.5 * velocity), velocity, 0];
    for (let index = at; index < end; index++) {
      rise = Math.min(1, rise + 0.005);
      into[index] = (into[index] ?? 0) + rise * level * sine(phase + reach * sine(phase * ratio));
      phase += pace;
      reach *= darken;
      level *= index > stop ? stopping : fade;
    }
  };
}
