import { type PlayNote, readTable, sine, songRate, tableSize } from './tone.ts';

/** A wavetable instrument whose tone starts bright and becomes darker. */
export interface WavetablePatch {
  /** Amplitude of a harmonic. Number 1 is the fundamental. */
  harmonic: (number: number) => number;
  /** Factor from one harmonic to the next in the dark tone. 1 keeps the tone bright. */
  darkness: number;
  /** Time constant in seconds of the transition to the dark tone. */
  darkening: number;
  /** Seconds. */
  attack: number;
  /** Time constant in seconds of the decay to the sustain level. */
  decay: number;
  /** Sustain level, 0 to 1. */
  sustain: number;
  /** Release time in seconds. */
  release: number;
  /** Depth in semitones. */
  vibrato?: number;
  /** Difference of two oscillators in semitones. */
  detune?: number;
}

const maxHarmonics = 40;
/** Maximum frequency of a harmonic in Hz. */
const maxFrequency = 15_000;
/** Samples per linear segment of the envelope. */
const segmentLength = 32;

export function createWavetable(patch: WavetablePatch): PlayNote {
  const tables = new Map<number, readonly [bright: Float32Array, dark: Float32Array]>();
  const tablesFor = (harmonics: number) => {
    const known = tables.get(harmonics);
    if (known) return known;
    const created = [
      createTable(harmonics, patch.harmonic),
      createTable(harmonics, (number) => patch.harmonic(number) * patch.darkness ** (number - 1)),
    ] as const;
    tables.set(harmonics, created);
    return created;
  };
  const { attack, decay, sustain, release, darkening, vibrato = 0, detune = 0 } = patch;

  return (into, at, { frequency, seconds, velocity }) => {
    const [bright, dark] = tablesFor(
      Math.max(1, Math.min(maxHarmonics, Math.floor(maxFrequency / frequency))),
    );
    const spread = 2 ** (detune / 24);
    const level = (time: number) => {
      const held =
        time < attack ? time / attack : sustain + (1 - sustain) * Math.exp((attack - time) / decay);
      return velocity * held * Math.max(0, Math.min(1, 1 - (time - seconds) / release));
    };
    const end = Math.min(into.length, at + Math.round((seconds + release) * songRate));
    let [first, second] = [0, 0.37];
    let now = level(0);
    for (let start = at; start < end; start += segmentLength) {
      const stop = Math.min(end, start + segmentLength);
      const time = (start - at) / songRate;
      const step = (level((stop - at) / songRate) - now) / segmentLength;
      const brightness = Math.exp(-time / darkening) * (0.4 + 0.6 * velocity);
      // The vibrato fades in, as with acoustic instruments.
      const bend = vibrato === 0 ? 1 : 2 ** ((vibrato * Math.min(1, time * 3) * sine(time * 5.4)) / 12);
      const pace = (frequency * bend) / songRate;
      for (let index = start; index < stop; index++) {
        let value = mixTables(bright, dark, first, brightness);
        if (detune !== 0) value = 0.5 * (value + mixTables(bright, dark, second, brightness));
        into[index] = (into[index] ?? 0) + now * value;
        first += pace * spread;
        second += pace / spread;
        now += step;
      }
    }
  };
}

function mixTables(bright: Float32Array, dark: Float32Array, phase: number, brightness: number): number {
  return brightness * readTable(bright, phase) + (1 - brightness) * readTable(dark, phase);
}

/**
 * Creates a table of one period, with its first sample repeated at the end. All harmonics together have the power of a
 * sine.
 */
function createTable(harmonics: number, amplitude: (number: number) => number): Float32Array {
  const table = new Float32Array(tableSize + 1);
  let power = 0;
  for (let number = 1; number <= harmonics; number++) power += amplitude(number) ** 2;
  for (let number = 1; number <= harmonics; number++) {
    const scaled = amplitude(number) / Math.sqrt(power);
    if (Math.abs(scaled) < 1e-4) continue;
    for (let index = 0; index <= tableSize; index++)
      table[index] = (table[index] ?? 0) + scaled * sine((number * index) / tableSize);
  }
  return table;
}
