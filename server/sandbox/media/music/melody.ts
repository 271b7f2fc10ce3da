import { createRandom } from '../drawing/random.ts';
import type { SectionKind } from './lyrics.ts';

/** Scale steps above the chord root per eighth note. Undefined holds the previous step. */
export type Motif = readonly (number | undefined)[];

interface MotifOptions {
  seed: number;
  /** Eighth notes per bar. */
  perBar: number;
  /** 0 follows the chords, 1 adds large intervals. */
  weirdness: number;
}

const seeds: Readonly<Record<SectionKind, number>> = { intro: 1, verse: 2, chorus: 3, solo: 4, outro: 1 };
const chordSteps = [0, 2, 4, 7];

/** Creates the melody of a section of four bars: a phrase of two bars, repeated with another ending. */
export function createMelody(kind: SectionKind, { seed, perBar, weirdness }: MotifOptions): Motif {
  const random = createRandom(seed + 7919 * seeds[kind]);
  const density = kind === 'chorus' ? 0.62 : kind === 'solo' ? 0.75 : 0.5;
  const phrase: (number | undefined)[] = [];
  let step = chordSteps[Math.floor(random() * 3)] ?? 0;
  for (let at = 0; at < 2 * perBar; at++) {
    const isStrong = at % 4 === 0;
    const isPlayed =
      at % perBar === 0 || random() < (isStrong ? 0.85 : at % 2 === 0 ? density : density * 0.55);
    if (!isPlayed) {
      phrase.push(undefined);
      continue;
    }
    if (isStrong) step = nearest(chordSteps, step + Math.round((random() - 0.5) * 3));
    else
      step += random() < 0.2 + 0.4 * weirdness ? Math.round((random() - 0.5) * 8) : random() < 0.5 ? 1 : -1;
    step = Math.max(-2, Math.min(8, step));
    phrase.push(step);
  }
  const answer = phrase.slice();
  const end = perBar * 2 - 4;
  answer.fill(undefined, end);
  answer[end] = 0;
  return [...phrase, ...answer];
}

/** Returns the step that sounds at an eighth note of the melody. */
export function stepAt(tune: Motif, at: number): number {
  for (let back = 0; back < tune.length; back++) {
    const step = tune[(((at - back) % tune.length) + tune.length) % tune.length];
    if (step !== undefined) return step;
  }
  return 0;
}

function nearest(steps: readonly number[], target: number): number {
  return steps.reduce((best, step) => (Math.abs(step - target) < Math.abs(best - target) ? step : best));
}
