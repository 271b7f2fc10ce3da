import { maxSpeechSeconds, type Pace } from './speech-time.ts';

/** What an upstream reported, in the model's own unit. */
export interface Usage {
  units: number;
  inputTokens: number;
  outputTokens: number;
}

/** The sum of two, or with `sign` -1 what is left of the first. */
export function sumUsage(left: Usage | undefined, right: Usage | undefined, sign: 1 | -1 = 1): Usage {
  return {
    units: (left?.units ?? 0) + sign * (right?.units ?? 0),
    inputTokens: (left?.inputTokens ?? 0) + sign * (right?.inputTokens ?? 0),
    outputTokens: (left?.outputTokens ?? 0) + sign * (right?.outputTokens ?? 0),
  };
}

/** What a model is metered in. */
export type Unit = 'characters' | 'tokens' | 'actions' | 'seconds' | 'tracks';

export interface CountOptions {
  /** The text is SSML: its tags and comments count nothing. */
  ssml?: boolean | undefined;
  /** Kana and hangul count 2 as well, as some upstreams meter them. */
  eastAsian?: boolean;
}

/** Below the first wide character of any script: one code unit each, and nothing to look up. */
const narrow = /^[\u0000-\u10ff]*$/;
const ideograph = /\p{Script=Han}/u;
const ideographOrSyllable = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Hangul}]/u;

/** Billing characters: a CJK ideograph counts 2, any other code point 1. */
export function countCharacters(
  text: string,
  { ssml = false, eastAsian = false }: CountOptions = {},
): number {
  const wide = eastAsian ? ideographOrSyllable : ideograph;
  const counted = ssml ? withoutTags(text) : text;
  if (narrow.test(counted)) return counted.length;
  let count = 0;
  for (const character of counted) count += wide.test(character) ? 2 : 1;
  return count;
}

/** BMP characters of East Asian Width W or F, and those of scripts that some providers count twice in every width. */
const possiblyWide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe10-\ufe1f\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]/u;

/**
 * Upper bound of the billing characters of a text. Wide characters count 2, and so does every character beyond the
 * BMP: some providers count its two code units. Everything else counts 1.
 */
export function maxBillingCharacters(
  text: string,
  { ssml = false }: Pick<CountOptions, 'ssml'> = {},
): number {
  const counted = ssml ? withoutTags(text) : text;
  if (narrow.test(counted)) return counted.length;
  let count = 0;
  for (const character of counted) count += character.length === 2 || possiblyWide.test(character) ? 2 : 1;
  return count;
}

/** A `<` that nothing closes is text. Written as a scan, since a pattern would be quadratic on many of them. */
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

/** The index after the tag or comment that starts at `start`, or -1 when it has no end. */
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
 * Quota for `units` at `pricePerUnit`, times the group's `ratio`: a whole number, rounded up.
 *
 * @throws RangeError when a factor is negative or not finite, or the result is 2^53 or more.
 */
export function price(units: number, pricePerUnit: number, ratio: number): number {
  for (const factor of [units, pricePerUnit, ratio]) {
    if (!(Number.isFinite(factor) && factor >= 0)) throw new RangeError(`cannot price with ${factor}`);
  }
  const exact = units * pricePerUnit * ratio;
  const nearest = Math.round(exact);
  // 100 × 1.1 × 1.1 is 121.00000000000001 in floating point: that noise must not cost a whole unit.
  const quota = Math.abs(exact - nearest) <= exact * 4 * Number.EPSILON ? nearest : Math.ceil(exact);
  if (!Number.isSafeInteger(quota)) throw new RangeError(`the price of ${units} units is too large`);
  return quota;
}

/** Text tokens, one for every 4 bytes of UTF-8, rounded up: near what an ordinary tokenizer makes of a text. */
export function estimateTextTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

/**
 * The fewest tokens that a tokenizer can make of a text: one for each word between spaces. A text in a script without
 * spaces may have many more, which only the provider can count.
 */
export function fewestTextTokens(text: string): number {
  return text.matchAll(/\S+/g).reduce((words) => words + 1, 0);
}

/** Audio tokens a second, which are also the fewest. */
const audioTokenRate = 50;

/** Output tokens of audio: 50 a second, at least 50. */
export function audioTokens(seconds: number): number {
  return Math.max(audioTokenRate, Math.ceil(seconds * audioTokenRate));
}

/**
 * The most input and output tokens that speaking a text on its own takes. No tokenizer makes more of a text than
 * one for each of its bytes.
 */
export function maxSpeechTokens(text: string, pace?: Pace): number {
  return Buffer.byteLength(text) + audioTokens(maxSpeechSeconds(text, pace));
}

/** Options of a text that decide how it is metered. */
export interface SpeechTextOptions extends CountOptions {
  pace?: Pace;
}

/** Upper bound of the units that speaking a text takes. Every route reserves this. */
export function maxSpeechUnits(unit: Unit, text: string, { ssml, pace }: SpeechTextOptions = {}): number {
  return unit === 'tokens' ? maxSpeechTokens(text, pace) : maxBillingCharacters(text, { ssml });
}

/** Units that speaking a text probably takes, charged when a provider delivers audio and reports no usage. */
export function likelySpeechUsage(unit: Unit, text: string, options: CountOptions = {}): Usage {
  if (unit === 'tokens') return likelySpeechTokens(text);
  return { units: countCharacters(text, options), inputTokens: 0, outputTokens: 0 };
}

/** A reported figure above this multiple of the upper bound is a fault of the provider. */
const maxBoundMultiple = 4;

/** Whether a provider can have used the units that it reports, given their upper bound. */
export function isPlausible(reported: number, bound: number): boolean {
  return reported >= 0 && reported <= maxBoundMultiple * bound;
}

/** Bytes of UTF-8 that are spoken in a second, in most scripts. */
const bytesPerSecond = 12;

/** Input and output tokens that speaking a text probably takes: for a provider that reports none. */
export function likelySpeechTokens(text: string): Usage {
  const inputTokens = estimateTextTokens(text);
  const outputTokens = audioTokens(Buffer.byteLength(text) / bytesPerSecond);
  return { units: inputTokens + outputTokens, inputTokens, outputTokens };
}
