/** Samples per second of all songs. */
export const songRate = 44_100;

/** One note to synthesize. */
interface Tone {
  /** Hertz. */
  frequency: number;
  /** Duration of the note in seconds, without its release. */
  seconds: number;
  /** Velocity, 0 to 1. */
  velocity: number;
}

/** Adds a note to mono samples, starting at sample `at`. */
export type PlayNote = (into: Float32Array, at: number, tone: Tone) => void;

const tableBits = 11;
export const tableSize = 2 ** tableBits;

const sines = Float32Array.from({ length: tableSize + 1 }, (_, index) =>
  Math.sin((2 * Math.PI * index) / tableSize),
);

/** Reads a wavetable with linear interpolation. `phase` is in periods and must not be negative. */
export function readTable(table: Float32Array, phase: number): number {
  const position = (phase - Math.floor(phase)) * tableSize;
  const index = position | 0;
  const before = table[index] ?? 0;
  return before + ((table[index + 1] ?? 0) - before) * (position - index);
}

export function sine(phase: number): number {
  return readTable(sines, phase);
}
