import { blankTriggers } from './triggers.ts';

/** One sentence of a text and its spoken form. */
export interface Sentence {
  /** Text as written. */
  text: string;
  /** Text to speak: as long as `text`, with unspoken characters replaced by spaces. */
  spoken: string;
  /** Silence that the text requests after the sentence, in milliseconds. */
  pause: number;
}

interface SplitOptions {
  /** Do not speak markdown markup. */
  markdown?: boolean;
  /** Interpret `<#seconds#>` as a pause. */
  pauses?: boolean;
  /** Do not speak tags such as `(laughs)`. */
  interjections?: boolean;
}

const pauseTag = /<#(\d{1,2}(?:\.\d{1,2})?)#>/g;
const interjections =
  /\((?:laughs|chuckle|coughs|clear-throat|groans|breath|pant|inhale|exhale|gasps|sniffs|sighs|snorts|humming)\)/g;

/** Splits a text into sentences, in order. Concatenating `text` of all sentences returns the text. */
export function splitText(text: string, options: SplitOptions = {}): Sentence[] {
  const sentences: Sentence[] = [];
  let position = 0;
  for (const { length, seconds } of options.pauses
    ? splitAtPauses(text)
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

/** Returns the sum of all `<#seconds#>` pauses in a text, in seconds. */
export function sumPauses(text: string): number {
  return splitAtPauses(text).reduce((sum, part) => sum + part.seconds, 0);
}

/** Splits a text after each pause tag. */
function splitAtPauses(text: string): { length: number; seconds: number }[] {
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

function blankUnspoken(text: string, options: SplitOptions): string {
  // Two square brackets would start the engine's phoneme notation, and control characters would end its input.
  let spoken = blankTriggers(text.toWellFormed()).replace(/\[\[|\]\]|\p{Cc}/gu, toSpaces);
  if (options.pauses) spoken = spoken.replace(pauseTag, toSpaces);
  if (options.interjections) spoken = spoken.replace(interjections, toSpaces);
  if (options.markdown) spoken = spoken.replace(/[*_#`~>|]+/g, toSpaces);
  return spoken;
}

function toSpaces(match: string): string {
  return ' '.repeat(match.length);
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Returns the plain text of an SSML document. */
export function stripSsml(text: string): string {
  return text
    .replace(/<[^<>]*>/g, '')
    .replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => entities[name] ?? '');
}

/** Maximum length of a sentence in UTF-16 units, so that no request occupies a worker for long. */
const maxSentenceLength = 240;

const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' });
const words = new Intl.Segmenter(undefined, { granularity: 'word' });

/** Splits a text into sentences. Concatenating them returns the text. None is blank unless the whole text is. */
export function splitSentences(text: string): string[] {
  const parts: string[] = [];
  for (const { segment } of sentences.segment(text)) {
    for (const part of splitLongSentence(segment)) {
      const last = parts.length - 1;
      const previous = parts[last];
      // A blank part is joined to its neighbor.
      if (previous !== undefined && (part.trim() === '' || previous.trim() === ''))
        parts[last] = previous + part;
      else parts.push(part);
    }
  }
  return parts;
}

function splitLongSentence(sentence: string): string[] {
  if (sentence.length <= maxSentenceLength) return [sentence];
  const parts: string[] = [];
  let current = '';
  for (const { segment } of words.segment(sentence)) {
    for (const word of segment.length > maxSentenceLength
      ? (segment.match(/.{1,200}/gsu) ?? [])
      : [segment]) {
      if (current.length + word.length > maxSentenceLength) {
        parts.push(current);
        current = '';
      }
      current += word;
    }
  }
  if (current !== '') parts.push(current);
  return parts;
}
