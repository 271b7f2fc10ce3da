import { type LyricWord, readLyrics, type SectionKind } from './lyric-lines.ts';
import type { SongPlan } from './song-plan.ts';
import { styleOf } from './sound.ts';

/** A word and the half beat of its line on which it begins. */
export interface PlacedWord extends LyricWord {
  at: number;
  /** Half beats that it takes. */
  length: number;
}

/** One bar. Bars of one line share it; only the first of them has its words. */
export interface Bar {
  kind: SectionKind;
  /** Place in its section. */
  index: number;
  /** Is somebody singing? */
  sung: boolean;
  words: PlacedWord[];
}

/** Longer than planned a song gets only for its lyrics, and by so much. */
const stretch = 5 / 4;

/** The bars of a song: its lyrics as far as there is room, played music before, after and for want of them. */
export function layOut(plan: SongPlan): Bar[] {
  const bars: Bar[] = [];
  const perBar = styleOf(plan.sound).beats * 2;
  const wanted = Math.max(2, Math.round((plan.seconds * plan.sound.tempo * 2) / (60 * perBar)));
  // A continuation is in the middle of things already.
  const intro = plan.startAt > 0 || wanted < 4 ? 0 : wanted < 8 ? 1 : 2;
  const outro = wanted < 8 ? 1 : 2;
  const room = Math.floor(wanted * stretch) - outro;
  const played = (kind: SectionKind, count: number) => {
    for (let index = 0; index < count; index++) bars.push({ kind, index, sung: false, words: [] });
  };

  played('intro', intro);
  let full = false;
  for (const { kind, lines } of readLyrics(plan.lyrics)) {
    let index = 0;
    if (lines.length === 0 && (kind === 'solo' || kind === 'outro'))
      played(kind, Math.min(2, room - bars.length));
    for (const words of lines.flatMap((line) => phrasesOf(line.words, 2 * perBar - 1))) {
      const line = placeWords(words, perBar);
      full ||= bars.length + line.bars > room;
      if (full) break;
      for (let bar = 0; bar < line.bars; bar++)
        bars.push({ kind, index: index++, sung: true, words: bar === 0 ? line.words : [] });
    }
    if (full) break;
  }
  const left = wanted - outro - bars.length;
  if (!bars.some(({ sung }) => sung)) fillWithMusic(left, played);
  else if (left >= 2) played('solo', Math.min(8, left));
  played('outro', outro);
  return bars;
}

/** Verses and choruses of four bars in turn. */
function fillWithMusic(count: number, played: (kind: SectionKind, count: number) => void): void {
  for (let left = count, turn = 0; left > 0; left -= 4, turn++)
    played(turn % 2 === 0 ? 'verse' : 'chorus', Math.min(4, left));
}

/** Cuts a line into pieces of at most so many syllables, as a singer takes breath. */
function phrasesOf(words: readonly LyricWord[], most: number): LyricWord[][] {
  const phrases: LyricWord[][] = [];
  let syllables = Infinity;
  for (const word of words) {
    syllables += word.syllables;
    if (syllables > most) {
      phrases.push([]);
      syllables = word.syllables;
    }
    phrases.at(-1)?.push(word);
  }
  return phrases;
}

/** A syllable is half a beat, in short lines a whole one; a line ends with a rest and fills whole bars. */
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
