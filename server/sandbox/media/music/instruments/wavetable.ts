import { type Play, readTable, sine, songRate, tableSize } from './tone.ts';

/** An instrument of one wave, which a tone begins bright and goes on darker with. */
export interface WavetablePatch {
  /** Amplitudes of the harmonics, of which 1 is the fundamental. */
  harmonic: (number: number) => number;
  /** How much fainter each further harmonic is when the tone has darkened; 1 keeps it bright. */
  darkness: number;
  /** Seconds in which it darkens. */
  darkening: number;
  /** Seconds. */
  attack: number;
  /** Seconds in which it fades to its sustain. */
  decay: number;
  /** Level of a held tone, 0 to 1. */
  sustain: number;
  /** Seconds in which it ends. */
  release: number;
  /** In semitones. */
  vibrato?: number;
  /** Semitones between two copies of the wave. */
  detune?: number;
}

const maxHarmonics = 40;
/** No harmonic is higher, in Hertz. */
const highest = 15_000;
/** Samples in which the envelope goes straight. */
const block = 32;

export function wavetable(patch: WavetablePatch): Play {
  const tables = new Map<number, readonly [bright: Float32Array, dark: Float32Array]>();
  const tablesFor = (harmonics: number) => {
    const known = tables.get(harmonics);
    if (known) return known;
    const made = [
      makeTable(harmonics, patch.harmonic),
      makeTable(harmonics, (number) => patch.harmonic(number) * patch.darkness ** (number - 1)),
    ] as const;
    tables.set(harmonics, made);
    return made;
  };
  const { attack, decay, sustain, release, darkening, vibrato = 0, detune = 0 } = patch;

  return (into, at, { frequency, seconds, velocity }) => {
    const [bright, dark] = tablesFor(Math.max(1, Math.min(maxHarmonics, Math.floor(highest / frequency))));
    const spread = 2 ** (detune / 24);
    const level = (time: number) => {
      const held =
        time < attack ? time / attack : sustain + (1 - sustain) * Math.exp((attack - time) / decay);
      return velocity * held * Math.max(0, Math.min(1, 1 - (time - seconds) / release));
    };
    const end = Math.min(into.length, at + Math.round((seconds + release) * songRate));
    let [first, second] = [0, 0.37];
    let now = level(0);
    for (let start = at; start < end; start += block) {
      const stop = Math.min(end, start + block);
      const time = (start - at) / songRate;
      const step = (level((stop - at) / songRate) - now) / block;
      const brightness = Math.exp(-time / darkening) * (0.4 + 0.6 * velocity);
      // Players let a tone settle before they move it.
      const bend = vibrato === 0 ? 1 : 2 ** ((vibrato * Math.min(1, time * 3) * sine(time * 5.4)) / 12);
      const pace = (frequency * bend) / songRate;
      for (let index = start; index < stop; index++) {
        let value = mixed(bright, dark, first, brightness);
        if (detune !== 0) value = 0.5 * (value + mixed(bright, dark, second, brightness));
        into[index] = (into[index] ?? 0) + now * value;
        first += pace * spread;
        second += pace / spread;
        now += step;
      }
    }
  };
}

function mixed(bright: Float32Array, dark: Float32Array, phase: number, brightness: number): number {
  return brightness * readTable(bright, phase) + (1 - brightness) * readTable(dark, phase);
}

/** One period with its first sample again at the end; the power of all harmonics together is that of a sine. */
function makeTable(harmonics: number, amplitude: (number: number) => number): Float32Array {
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
