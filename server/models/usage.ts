import { maxSpeechSeconds, type Pace } from './speech-time.ts';

/** Usage in the model's own unit. */
export interface Usage {
  units: number;
  inputTokens: number;
  /** For a video, its completion tokens. */
  outputTokens: number;
  /** Input tokens that were read from the prompt cache. Absent: none, or unknown. */
  cachedTokens?: number;
  /** Input tokens that were written to the prompt cache. Absent: none, or unknown. */
  cacheWriteTokens?: number;
}

/** Upper bound of a usage. */
export interface UsageBound {
  units: number;
  /** Upper bound of the output tokens among them. Absent: all may be output. */
  maxOutputTokens?: number;
}

/** Adds two usages. With `sign` -1, subtracts the second one. */
export function sumUsage(left: Usage | undefined, right: Usage | undefined, sign: 1 | -1 = 1): Usage {
  const sum = (name: 'units' | 'inputTokens' | 'outputTokens') =>
    (left?.[name] ?? 0) + sign * (right?.[name] ?? 0);
  return { units: sum('units'), inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') };
}

export type Unit = 'characters' | 'tokens' | 'actions' | 'seconds' | 'tracks';

export interface CountOptions {
  /** The text is SSML, whose tags and comments do not count. */
  ssml?: boolean | undefined;
  /** Kana and hangul also count 2, because some upstreams meter them so. */
  eastAsian?: boolean;
}

/** Characters before the first wide one of any script, which all have one code unit. */
const narrow = /^[\u0000-\u10ff]*$/;
const ideograph = /\p{Script=Han}/u;
const ideographOrSyllable = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Hangul}]/u;

/** Counts billing characters: 2 for a CJK ideograph, 1 for any other code point. */
export function countCharacters(
  text: string,
  { ssml = false, eastAsian = false }: CountOptions = {},
): number {
  const wide = eastAsian ? ideographOrSyllable : ideograph;
  return countWide(ssml ? withoutTags(text) : text, (character) => wide.test(character));
}

/** Counts characters, and wide ones twice. */
function countWide(text: string, isWide: (character: string) => boolean): number {
  if (narrow.test(text)) return text.length;
  let count = 0;
  for (const character of text) count += isWide(character) ? 2 : 1;
  return count;
}

/** BMP characters of East Asian Width W or F, and those of scripts that some providers count twice in every width. */
const possiblyWide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe10-\ufe1f\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]/u;

/**
 * Upper bound of the billing characters of a text. Wide characters count 2, and so does every character beyond the
 * BMP: some providers count its two code units. Everything else counts 1.
 */
export function maxBillingCharacters(text: string, { ssml = false }: CountOptions = {}): number {
  const isWide = (character: string) => character.length === 2 || possiblyWide.test(character);
  return countWide(ssml ? withoutTags(text) : text, isWide);
}

/** Removes tags and comments. A `<` without an end is text. A pattern would be quadratic on many of them. */
function withoutTags(text: string): string {
  let kept = '';
  let from = 0;
  for (;;) {
    const start = text.indexOf('<', from);
    const end = start < 0 ? -1 : tagEnd(text, start);
    if (end < 0) return kept + text.slice(from);
    kept += text.slice(from, start);
    from = end;
  }
}

/** Returns the index after the tag or comment at `start`. -1 if it has no end. */
function tagEnd(text: string, start: number): number {
  if (text.startsWith('<!--', start)) {
    const end = text.indexOf('-->', start + 4);
    return end < 0 ? -1 : end + 3;
  }
  let quote = '';
  for (let index = start + 1; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === '>') return index + 1;
  }
  return -1;
}

/**
 * Returns the quota for `units` at `pricePerUnit`, times the group's `ratio`, rounded up to a whole number. Throws
 * RangeError when a factor is negative or not finite, or the result is 2^53 or more.
 */
export function price(units: number, pricePerUnit: number, ratio: number): number {
  for (const factor of [units, pricePerUnit, ratio]) {
    if (!(Number.isFinite(factor) && factor >= 0)) throw new RangeError(`cannot price with ${factor}`);
  }
  const exact = units * pricePerUnit * ratio;
  const nearest = Math.round(exact);
  // 100 × 1.1 × 1.1 is 121.00000000000001 in floating point, which must not cost a whole unit.
  const quota = Math.abs(exact - nearest) <= exact * 4 * Number.EPSILON ? nearest : Math.ceil(exact);
  if (!Number.isSafeInteger(quota)) throw new RangeError(`the price of ${units} units is too large`);
  return quota;
}

/** Estimates text tokens as one per 4 bytes of UTF-8, rounded up, like an ordinary tokenizer. */
export function estimateTextTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

/** Counts the fewest possible tokens of a text: one per word between spaces. A script without spaces may have many more. */
export function fewestTextTokens(text: string): number {
  return text.matchAll(/\S+/g).reduce((words) => words + 1, 0);
}

const audioTokenRate = 50;

export function audioTokens(seconds: number): number {
  return Math.max(audioTokenRate, Math.ceil(seconds * audioTokenRate));
}

export interface SpeechTextOptions extends CountOptions {
  pace?: Pace;
}

/** Upper bound of the usage of speaking a text. Every route reserves it. */
export function maxSpeechUsage(
  unit: Unit,
  text: string,
  { ssml, pace }: SpeechTextOptions = {},
): Required<UsageBound> {
  if (unit !== 'tokens') return { units: maxBillingCharacters(text, { ssml }), maxOutputTokens: 0 };
  const maxOutputTokens = audioTokens(maxSpeechSeconds(text, pace));
  // No tokenizer makes more than one token per byte.
  return { units: Buffer.byteLength(text) + maxOutputTokens, maxOutputTokens };
}

/** Likely usage of speaking a text, which is charged when a provider delivers audio and reports no usage. */
export function likelySpeechUsage(unit: Unit, text: string, options: CountOptions = {}): Usage {
  if (unit === 'tokens') return likelySpeechTokens(text);
  return { units: countCharacters(text, options), inputTokens: 0, outputTokens: 0 };
}

/** A provider's report above this multiple of the upper bound is wrong. */
const maxBoundMultiple = 4;

export function isPlausible(reported: number, bound: number): boolean {
  return reported >= 0 && reported <= maxBoundMultiple * bound;
}

/** Bytes of UTF-8 spoken per second in most scripts. */
const bytesPerSecond = 12;

export function likelySpeechTokens(text: string): Usage {
  const inputTokens = estimateTextTokens(text);
  const outputTokens = audioTokens(Buffer.byteLength(text) / bytesPerSecond);
  return { units: inputTokens + outputTokens, inputTokens, outputTokens };
}
