import { chance } from '../drawing/chance.ts';
import { songRate } from './instruments/tone.ts';

/** A spoken word whose pitch does not move. */
export interface SpokenWord {
  /** Mono, at the rate of songs. */
  samples: Float32Array;
  /** Hertz. */
  frequency: number;
}

/** Seconds at both ends that keep their pace, so that consonants stay what they are. */
const edge = 0.06;
/** How alike one period and the next must be to count as voiced. */
const voiced = 0.5;

/**
 * Adds a spoken word to a song as a note: its periods are laid down again at the distance of the new pitch and as often
 * as it takes. The timbre stays, since each period stays what it was. (Pitch-synchronous overlap and add.)
 */
export function singWord(
  into: Float32Array,
  at: number,
  word: SpokenWord,
  { frequency, seconds }: { frequency: number; seconds: number },
): void {
  const { samples } = word;
  const period = songRate / word.frequency;
  const marks = markPeriods(samples, period);
  const length = Math.round(seconds * songRate);
  const next = chance(length);
  let [time, mark] = [0, 0];
  while (time < length) {
    const wanted = sourceAt(time, length, samples.length);
    while (mark + 1 < marks.length && distance(marks[mark + 1], wanted) <= distance(marks[mark], wanted))
      mark++;
    const centre = marks[mark] ?? 0;
    const hasPitch = likeness(samples, centre, Math.round(period)) > voiced;
    const age = time / songRate;
    const vibrato = 1 + 0.012 * Math.min(1, 3 * age) * Math.sin(2 * Math.PI * 5.5 * age);
    const hop = hasPitch ? songRate / (frequency * vibrato) : period;
    // A noise that repeats would buzz.
    const from = hasPitch ? centre : centre + Math.round((next() - 0.5) * period);
    // Denser grains are fainter.
    const grain = { from, at: at + Math.round(time), period, level: Math.min(1, hop / period) };
    layGrain(samples, into.subarray(0, at + length), grain, at);
    time += hop;
  }
}

/** Peaks about one period apart. */
function markPeriods(samples: Float32Array, period: number): number[] {
  const marks: number[] = [];
  let wanted = period / 2;
  while (wanted < samples.length) {
    const reach = marks.length === 0 ? period / 2 : period * 0.15;
    let best = Math.round(wanted);
    const last = Math.min(samples.length - 1, wanted + reach);
    for (let index = Math.max(0, Math.round(wanted - reach)); index <= last; index++)
      if ((samples[index] ?? 0) > (samples[best] ?? 0)) best = index;
    marks.push(best);
    wanted = best + period;
  }
  return marks;
}

/** The place in the word that sounds at a time of the note, both in samples. */
function sourceAt(time: number, length: number, source: number): number {
  const kept = Math.min(edge * songRate, length / 3, source / 3);
  if (time < kept) return time;
  if (time > length - kept) return source - (length - time);
  return kept + ((time - kept) * (source - 2 * kept)) / (length - 2 * kept);
}

/** Correlation of the period around a place with the one after it, -1 to 1. */
function likeness(samples: Float32Array, centre: number, period: number): number {
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

/** Adds two periods around `from`, faded in and out, but nothing before `begin`. */
function layGrain(
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

function distance(mark: number | undefined, wanted: number): number {
  return Math.abs((mark ?? 0) - wanted);
}
