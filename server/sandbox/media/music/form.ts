import { type LyricWord, parseLyrics, type SectionKind } from './lyrics.ts';
import type { SongPlan } from './song-plan.ts';
import { findStyle } from './sound.ts';

/** A word with its position in its line, in eighth notes. */
interface PlacedWord extends LyricWord {
  at: number;
  /** Length in eighth notes. */
  length: number;
}

/** One bar. The words of a line are in the first of its bars. */
export interface Bar {
  kind: SectionKind;
  /** Index within its section. */
  index: number;
  /** True if the bar has vocals. */
  hasVocals: boolean;
  words: PlacedWord[];
}

/** Lyrics can extend a song to this multiple of its planned length. */
const maxLengthFactor = 5 / 4;

/**
 * Creates the bars of a song: as many lyrics as fit, with instrumental bars before, after and instead of missing
 * lyrics.
 */
export function createBars(plan: SongPlan): Bar[] {
  const bars: Bar[] = [];
  const perBar = findStyle(plan.sound).beats * 2;
  const plannedBars = Math.max(2, Math.round((plan.seconds * plan.sound.tempo * 2) / (60 * perBar)));
  // A continuation has no intro.
  const intro = plan.startAt > 0 || plannedBars < 4 ? 0 : plannedBars < 8 ? 1 : 2;
  const outro = plannedBars < 8 ? 1 : 2;
  const maxBars = Math.floor(plannedBars * maxLengthFactor) - outro;
  const addInstrumental = (kind: SectionKind, count: number) => {
    for (let index = 0; index < count; index++) bars.push({ kind, index, hasVocals: false, words: [] });
  };

  addInstrumental('intro', intro);
  let isFull = false;
  for (const { kind, lines } of parseLyrics(plan.lyrics)) {
    let index = 0;
    if (lines.length === 0 && (kind === 'solo' || kind === 'outro'))
      addInstrumental(kind, Math.min(2, maxBars - bars.length));
    for (const words of lines.flatMap((line) => splitPhrases(line.words, 2 * perBar - 1))) {
      const line = placeWords(words, perBar);
      isFull ||= bars.length + line.bars > maxBars;
      if (isFull) break;
      for (let bar = 0; bar < line.bars; bar++)
        bars.push({ kind, index: index++, hasVocals: true, words: bar === 0 ? line.words : [] });
    }
    if (isFull) break;
  }
  const remaining = plannedBars - outro - bars.length;
  if (!bars.some(({ hasVocals }) => hasVocals)) addInstrumentalSections(remaining, addInstrumental);
  else if (remaining >= 2) addInstrumental('solo', Math.min(8, remaining));
  addInstrumental('outro', outro);
  return bars;
}

/** Adds alternating verses and choruses of four bars. */
function addInstrumentalSections(
  count: number,
  addInstrumental: (kind: SectionKind, count: number) => void,
): void {
  for (let left = count, turn = 0; left > 0; left -= 4, turn++)
    addInstrumental(turn % 2 === 0 ? 'verse' : 'chorus', Math.min(4, left));
}

/** Splits a line into phrases with at most `maxSyllables` syllables. */
function splitPhrases(words: readonly LyricWord[], maxSyllables: number): LyricWord[][] {
  const phrases: LyricWord[][] = [];
  let syllables = Infinity;
  for (const word of words) {
    syllables += word.syllables;
    if (syllables > maxSyllables) {
      phrases.push([]);
      syllables = word.syllables;
    }
    phrases.at(-1)?.push(word);
  }
  return phrases;
}

/**
 * Places the words of a line. A syllable is an eighth note, in short lines a quarter note. A line ends with a rest and
 * fills whole bars.
 */
function placeWords(words: readonly LyricWord[], perBar: number): { words: PlacedWord[]; bars: number } {
  const syllables = words.reduce((sum, word) => sum + word.syllables, 0);
  const step = syllables <= perBar / 2 ? 2 : 1;
  let at = 0;
  const placed = words.map((word) => {
    const length = word.syllables * step;
    at += length;
    return { ...word, at: at - length, length };
  });
  return { words: placed, bars: Math.ceil((at + (step === 2 ? 0 : 1)) / perBar) };
}
