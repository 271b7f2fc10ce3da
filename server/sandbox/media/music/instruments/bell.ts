import { type Play, sine, songRate } from './tone.ts';

export interface BellPatch {
  /** Frequency of the modulator to that of the tone. */
  ratio: number;
  /** How far it modulates at first, in periods. */
  depth: number;
  /** Seconds in which the modulation falls to a third. */
  darkening: number;
  /** Seconds in which the tone falls to a third. */
  decay: number;
  /** Seconds. */
  release: number;
}

/** One wave that modulates the phase of another: bells, music boxes and electric pianos. */
export function bell({ ratio, depth, darkening, decay, release }: BellPatch): Play {
  return (into, at, { frequency, seconds, velocity }) => {
    const pace = frequency / songRate;
    const stop = at + Math.round(seconds * songRate);
    const end = Math.min(into.length, stop + Math.round(release * songRate));
    const darken = Math.exp(-1 / (darkening * songRate));
    const fade = Math.exp(-1 / (decay * songRate));
    const stopping = Math.exp(-4 / (release * songRate));
    // Far enough from zero that a phase is never negative.
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
