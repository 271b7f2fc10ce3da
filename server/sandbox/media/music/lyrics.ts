/** One line of lyrics. */
interface LyricLine {
  words: LyricWord[];
}

export interface LyricWord {
  text: string;
  /** Its part of the lyrics: a section mark and empty lines before it, and the text up to the next word. */
  written: string;
  syllables: number;
}

export type SectionKind = 'intro' | 'verse' | 'chorus' | 'solo' | 'outro';

/** The lines below one section mark. */
export interface LyricSection {
  kind: SectionKind;
  lines: LyricLine[];
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });
/** A line in round brackets is a section mark only if it names a section. Otherwise it is sung. */
const sectionMark =
  /^\s*(?:\[([^\]]*)\]|\(((?:verse|(?:pre-?)?chorus|hook|refrain|bridge|intro|outro|solo|interlude)\b[^)]*)\))\s*$/i;
/** Longer sections are split. */
const maxLines = 8;

/** Parses lyrics into sections. A section mark is a separate line. A section of unknown type is a verse. */
export function parseLyrics(lyrics: string): LyricSection[] {
  const sections: LyricSection[] = [];
  let currentSection: LyricSection | undefined;
  let unsungText = '';
  for (const line of lyrics.split(/(?<=\n)/)) {
    const [, square, round] = sectionMark.exec(line) ?? [];
    const label = square ?? round;
    const words = label === undefined ? splitWords(line, unsungText) : [];
    if (words.length > 0) {
      unsungText = '';
      if (!currentSection || currentSection.lines.length >= maxLines) {
        currentSection = { kind: currentSection?.kind ?? 'verse', lines: [] };
        sections.push(currentSection);
      }
      currentSection.lines.push({ words });
      continue;
    }
    unsungText += line;
    if (label !== undefined) sections.push((currentSection = { kind: sectionKind(label), lines: [] }));
    else if (line.trim() === '') currentSection = undefined;
  }
  return sections;
}

function sectionKind(label: string): SectionKind {
  if (/chorus|hook|refrain/i.test(label) && !/pre/i.test(label)) return 'chorus';
  if (/intro/i.test(label)) return 'intro';
  if (/outro|ending/i.test(label)) return 'outro';
  return /solo|instrumental|interlude|break/i.test(label) ? 'solo' : 'verse';
}

/** Splits a line into words. `before` is the text since the previous word. */
function splitWords(line: string, before: string): LyricWord[] {
  const starts = Array.from(segmenter.segment(line)).filter(({ isWordLike }) => isWordLike);
  return starts.map(({ segment, index }, wordIndex) => {
    const from = wordIndex === 0 ? 0 : index;
    const written = (wordIndex === 0 ? before : '') + line.slice(from, starts[wordIndex + 1]?.index);
    return { text: segment, written, syllables: countSyllables(segment) };
  });
}

/** Counts groups of vowels, or characters in scripts without vowels. */
function countSyllables(word: string): number {
  const plain = word.toLowerCase().normalize('NFKD').replace(/\p{M}/gu, '');
  if (!/\p{Script=Latin}/u.test(plain)) return Math.min(6, Array.from(word).length);
  const groups = plain.replace(/([^l])e$/, '$1').match(/[aeiouy]+/g)?.length ?? 1;
  return Math.max(1, Math.min(6, groups));
}
