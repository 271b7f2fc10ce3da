/** Samples a second of all songs. */
export const songRate = 44_100;

/** One note to be played. */
export interface Tone {
  /** Hertz. */
  frequency: number;
  /** How long it is held, in seconds; it may ring on. */
  seconds: number;
  /** How hard, 0 to 1. */
  velocity: number;
}

/** Adds a note to mono samples, from sample `at` on. */
export type Play = (into: Float32Array, at: number, tone: Tone) => void;

const tableBits = 11;
export const tableSize = 2 ** tableBits;

const sines = Float32Array.from({ length: tableSize + 1 }, (_, index) =>
  Math.sin((2 * Math.PI * index) / tableSize),
);

/** Reads one period of a wave; `phase` counts periods and is not negative. */
export function readTable(table: Float32Array, phase: number): number {
  const place = (phase - Math.floor(phase)) * tableSize;
  const index = place | 0;
  const before = table[index] ?? 0;
  return before + ((table[index + 1] ?? 0) - before) * (place - index);
}

export function sine(phase: number): number {
  return readTable(sines, phase);
}
