import { blankTriggers } from './triggers.ts';

/** One sentence of a text and how it is read aloud. */
export interface Sentence {
  /** As written. */
  text: string;
  /** What is spoken: as long as `text`, with blanks where something is not spoken. */
  spoken: string;
  /** Silence that the text asks for after it, in milliseconds. */
  pause: number;
}

interface ReadingOptions {
  /** Leave markdown signs unspoken. */
  markdown?: boolean;
  /** Whether `<#seconds#>` makes a pause. */
  pauses?: boolean;
  /** Leave tags such as `(laughs)` unspoken. */
  interjections?: boolean;
}

const pauseTag = /<#(\d{1,2}(?:\.\d{1,2})?)#>/g;
const interjections =
  /\((?:laughs|chuckle|coughs|clear-throat|groans|breath|pant|inhale|exhale|gasps|sniffs|sighs|snorts|humming)\)/g;

/** Makes the script of a text: its sentences in order. Joined, their `text` is the text. */
export function readText(text: string, options: ReadingOptions = {}): Sentence[] {
  const sentences: Sentence[] = [];
  let position = 0;
  for (const { length, seconds } of options.pauses
    ? partsByPause(text)
    : [{ length: text.length, seconds: 0 }]) {
    const spokenPart = blankUnspoken(text.slice(position, position + length), options);
    for (const spoken of splitSentences(spokenPart)) {
      sentences.push({ text: text.slice(position, position + spoken.length), spoken, pause: 0 });
      position += spoken.length;
    }
    const last = sentences.at(-1);
    if (last) last.pause += seconds * 1000;
  }
  return sentences;
}

/** Seconds of all `<#seconds#>` pauses in a text. */
export function totalPause(text: string): number {
  return partsByPause(text).reduce((sum, part) => sum + part.seconds, 0);
}

/** Cuts behind each pause tag. */
function partsByPause(text: string): { length: number; seconds: number }[] {
  const parts: { length: number; seconds: number }[] = [];
  let position = 0;
  for (const match of text.matchAll(pauseTag)) {
    const end = match.index + match[0].length;
    parts.push({ length: end - position, seconds: Number(match[1]) });
    position = end;
  }
  if (position < text.length) parts.push({ length: text.length - position, seconds: 0 });
  return parts;
}

function blankUnspoken(text: string, options: ReadingOptions): string {
  // Two square brackets would start the engine's phoneme notation; control characters would end its input.
  let spoken = blankTriggers(text.toWellFormed()).replace(/\[\[|\]\]|\p{Cc}/gu, blank);
  if (options.pauses) spoken = spoken.replace(pauseTag, blank);
  if (options.interjections) spoken = spoken.replace(interjections, blank);
  if (options.markdown) spoken = spoken.replace(/[*_#`~>|]+/g, blank);
  return spoken;
}

function blank(match: string): string {
  return ' '.repeat(match.length);
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The plain text of an SSML document. */
export function stripSsml(text: string): string {
  return text
    .replace(/<[^<>]*>/g, '')
    .replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => entities[name] ?? '');
}

/** Longest piece handed to the engine at once, in UTF-16 units, so that no request holds a worker for long. */
const maxLength = 240;

const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' });
const words = new Intl.Segmenter(undefined, { granularity: 'word' });

/** Cuts a text into sentences. Joined again they are the text; none is blank unless the whole text is. */
export function splitSentences(text: string): string[] {
  const pieces: string[] = [];
  for (const { segment } of sentences.segment(text)) {
    for (const piece of shorten(segment)) {
      const last = pieces.length - 1;
      const previous = pieces[last];
      // A blank piece is no sentence of its own: it goes to its neighbour.
      if (previous !== undefined && (piece.trim() === '' || previous.trim() === ''))
        pieces[last] = previous + piece;
      else pieces.push(piece);
    }
  }
  return pieces;
}

function shorten(sentence: string): string[] {
  if (sentence.length <= maxLength) return [sentence];
  const pieces: string[] = [];
  let piece = '';
  for (const { segment } of words.segment(sentence)) {
    for (const part of segment.length > maxLength ? (segment.match(/.{1,200}/gsu) ?? []) : [segment]) {
      if (piece.length + part.length > maxLength) {
        pieces.push(piece);
        piece = '';
      }
      piece += part;
    }
  }
  if (piece !== '') pieces.push(piece);
  return pieces;
}
