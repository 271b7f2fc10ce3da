import { chance } from '../drawing/chance.ts';
import type { SectionKind } from './lyric-lines.ts';

/** Steps of the scale above the root of the chord by half beats; undefined goes on with the last one. */
export type Motif = readonly (number | undefined)[];

interface MotifOptions {
  seed: number;
  /** Half beats in a bar. */
  perBar: number;
  /** 0 keeps to the chords, 1 leaps about. */
  weirdness: number;
}

const seeds: Readonly<Record<SectionKind, number>> = { intro: 1, verse: 2, chorus: 3, solo: 4, outro: 1 };
const chordSteps = [0, 2, 4, 7];

/** The tune of four bars of a kind of section: two bars, and the same again with another end. */
export function tuneOf(kind: SectionKind, { seed, perBar, weirdness }: MotifOptions): Motif {
  const next = chance(seed + 7919 * seeds[kind]);
  const busy = kind === 'chorus' ? 0.62 : kind === 'solo' ? 0.75 : 0.5;
  const phrase: (number | undefined)[] = [];
  let step = chordSteps[Math.floor(next() * 3)] ?? 0;
  for (let at = 0; at < 2 * perBar; at++) {
    const strong = at % 4 === 0;
    const isPlayed = at % perBar === 0 || next() < (strong ? 0.85 : at % 2 === 0 ? busy : busy * 0.55);
    if (!isPlayed) {
      phrase.push(undefined);
      continue;
    }
    if (strong) step = nearest(chordSteps, step + Math.round((next() - 0.5) * 3));
    else step += next() < 0.2 + 0.4 * weirdness ? Math.round((next() - 0.5) * 8) : next() < 0.5 ? 1 : -1;
    step = Math.max(-2, Math.min(8, step));
    phrase.push(step);
  }
  const answer = phrase.slice();
  const end = perBar * 2 - 4;
  answer.fill(undefined, end);
  answer[end] = 0;
  return [...phrase, ...answer];
}

/** What sounds at a half beat of the tune. */
export function stepAt(tune: Motif, at: number): number {
  for (let back = 0; back < tune.length; back++) {
    const step = tune[(((at - back) % tune.length) + tune.length) % tune.length];
    if (step !== undefined) return step;
  }
  return 0;
}

function nearest(steps: readonly number[], wanted: number): number {
  return steps.reduce((best, step) => (Math.abs(step - wanted) < Math.abs(best - wanted) ? step : best));
}
