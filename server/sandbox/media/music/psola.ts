import { createRandom } from '../drawing/random.ts';
import { songRate } from './instruments/tone.ts';

/** A spoken word with constant pitch. */
export interface SpokenWord {
  /** Mono, at the sample rate of songs. */
  samples: Float32Array;
  /** Hertz. */
  frequency: number;
}

/** Seconds at both ends that are not stretched, so that consonants stay intelligible. */
const edgeSeconds = 0.06;
/** Minimum correlation of consecutive periods to count as voiced. */
const minVoicedCorrelation = 0.5;

/**
 * Adds a spoken word to a song as a note, by pitch-synchronous overlap and add (PSOLA): periods of the word are
 * repeated at the interval of the new pitch. The timbre stays the same, because the periods are unchanged.
 */
export function addSungWord(
  into: Float32Array,
  at: number,
  word: SpokenWord,
  { frequency, seconds }: { frequency: number; seconds: number },
): void {
  const { samples } = word;
  const period = songRate / word.frequency;
  const marks = markPeriods(samples, period);
  const length = Math.round(seconds * songRate);
  const random = createRandom(length);
  let [time, mark] = [0, 0];
  while (time < length) {
    const target = sourcePosition(time, length, samples.length);
    while (mark + 1 < marks.length && distance(marks[mark + 1], target) <= distance(marks[mark], target))
      mark++;
    const center = marks[mark] ?? 0;
    const hasPitch = periodCorrelation(samples, center, Math.round(period)) > minVoicedCorrelation;
    const age = time / songRate;
    const vibrato = 1 + 0.012 * Math.min(1, 3 * age) * Math.sin(2 * Math.PI * 5.5 * age);
    const hop = hasPitch ? songRate / (frequency * vibrato) : period;
    // Repeated noise would buzz, so its grains start at random offsets.
    const from = hasPitch ? center : center + Math.round((random() - 0.5) * period);
    // The level decreases with the density of the grains.
    const grain = { from, at: at + Math.round(time), period, level: Math.min(1, hop / period) };
    addGrain(samples, into.subarray(0, at + length), grain, at);
    time += hop;
  }
}

/** Returns the positions of peaks that are about one period apart. */
function markPeriods(samples: Float32Array, period: number): number[] {
  const marks: number[] = [];
  let target = period / 2;
  while (target < samples.length) {
    const reach = marks.length === 0 ? period / 2 : period * 0.15;
    let best = Math.round(target);
    const last = Math.min(samples.length - 1, target + reach);
    for (let index = Math.max(0, Math.round(target - reach)); index <= last; index++)
      if ((samples[index] ?? 0) > (samples[best] ?? 0)) best = index;
    marks.push(best);
    target = best + period;
  }
  return marks;
}

/** Maps a time of the note to a position in the word, both in samples. */
function sourcePosition(time: number, length: number, source: number): number {
  const unstretched = Math.min(edgeSeconds * songRate, length / 3, source / 3);
  if (time < unstretched) return time;
  if (time > length - unstretched) return source - (length - time);
  return unstretched + ((time - unstretched) * (source - 2 * unstretched)) / (length - 2 * unstretched);
}

/** Returns the correlation of the period around a position with the next one, -1 to 1. */
function periodCorrelation(samples: Float32Array, centre: number, period: number): number {
  const start = Math.max(0, Math.min(samples.length - 2 * period, centre - (period >> 1)));
  let [product, first, second] = [0, 1e-9, 1e-9];
  for (let index = start; index < start + period; index += 2) {
    const [one = 0, other = 0] = [samples[index], samples[index + period]];
    product += one * other;
    first += one * one;
    second += other * other;
  }
  return product / Math.sqrt(first * second);
}

/** Adds two periods around `from` with a fade-in and fade-out, but nothing before `begin`. */
function addGrain(
  samples: Float32Array,
  into: Float32Array,
  { from, at, period, level }: { from: number; at: number; period: number; level: number },
  begin: number,
): void {
  const half = Math.round(period);
  const end = Math.min(half, into.length - at);
  for (let offset = Math.max(-half, begin - at); offset < end; offset++) {
    const fade = 0.5 + 0.5 * Math.cos((Math.PI * offset) / half);
    into[at + offset] = (into[at + offset] ?? 0) + level * fade * (samples[from + offset] ?? 0);
  }
}

function distance(mark: number | undefined, target: number): number {
  return Math.abs((mark ?? 0) - target);
}
