/** A line to sing. */
interface LyricLine {
  words: LyricWord[];
}

export interface LyricWord {
  text: string;
  /** Its part of the lyrics: a mark and empty lines before it, and what follows up to the next word. */
  written: string;
  syllables: number;
}

export type SectionKind = 'intro' | 'verse' | 'chorus' | 'solo' | 'outro';

/** Lines under one section mark. */
export interface LyricSection {
  kind: SectionKind;
  lines: LyricLine[];
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
/** In round brackets a line is only a mark when it names a section; else it is an aside that is sung. */
const mark =
  /^\s*(?:\[([^\]]*)\]|\(((?:verse|(?:pre-?)?chorus|hook|refrain|bridge|intro|outro|solo|interlude)\b[^)]*)\))\s*$/i;
/** Longer sections are taken apart. */
const maxLines = 8;

/** Takes lyrics apart. A mark is a line of its own; what is no other section is a verse. */
export function readLyrics(lyrics: string): LyricSection[] {
  const sections: LyricSection[] = [];
  let open: LyricSection | undefined;
  let silent = '';
  for (const line of lyrics.split(/(?<=\n)/)) {
    const [, square, round] = mark.exec(line) ?? [];
    const label = square ?? round;
    const words = label === undefined ? wordsOf(line, silent) : [];
    if (words.length > 0) {
      silent = '';
      if (!open || open.lines.length >= maxLines) {
        open = { kind: open?.kind ?? 'verse', lines: [] };
        sections.push(open);
      }
      open.lines.push({ words });
      continue;
    }
    silent += line;
    if (label !== undefined) sections.push((open = { kind: kindOf(label), lines: [] }));
    else if (line.trim() === '') open = undefined;
  }
  return sections;
}

function kindOf(label: string): SectionKind {
  if (/chorus|hook|refrain/i.test(label) && !/pre/i.test(label)) return 'chorus';
  if (/intro/i.test(label)) return 'intro';
  if (/outro|ending/i.test(label)) return 'outro';
  return /solo|instrumental|interlude|break/i.test(label) ? 'solo' : 'verse';
}

/** The words of a line; `before` is what was written since the last one. */
function wordsOf(line: string, before: string): LyricWord[] {
  const starts = Array.from(segmenter.segment(line)).filter(({ isWordLike }) => isWordLike);
  return starts.map(({ segment, index }, place) => {
    const from = place === 0 ? 0 : index;
    const written = (place === 0 ? before : '') + line.slice(from, starts[place + 1]?.index);
    return { text: segment, written, syllables: countSyllables(segment) };
  });
}

/** Groups of vowels; of scripts without them the characters. */
function countSyllables(word: string): number {
  const plain = word.toLowerCase().normalize('NFKD').replace(/\p{M}/gu, '');
  if (!/\p{Script=Latin}/u.test(plain)) return Math.min(6, Array.from(word).length);
  const groups = plain.replace(/([^l])e$/, '$1').match(/[aeiouy]+/g)?.length ?? 1;
  return Math.max(1, Math.min(6, groups));
}
