/** What a model is metered in. */
export type Unit = 'characters' | 'tokens' | 'actions' | 'seconds' | 'tracks';

export interface CountOptions {
  /** The text is SSML: its tags and comments count nothing. */
  ssml?: boolean;
  /** Kana and hangul count 2 as well, as some upstreams meter them. */
  eastAsian?: boolean;
}

/** Below the first wide character of any script: one code unit each, and nothing to look up. */
const NARROW = /^[\u0000-\u10ff]*$/;
const IDEOGRAPH = /\p{Script=Han}/u;
const IDEOGRAPH_OR_SYLLABLE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Hangul}]/u;

/** Billing characters: a CJK ideograph counts 2, any other code point 1. */
export function countCharacters(
  text: string,
  { ssml = false, eastAsian = false }: CountOptions = {},
): number {
  const wide = eastAsian ? IDEOGRAPH_OR_SYLLABLE : IDEOGRAPH;
  const counted = ssml ? withoutTags(text) : text;
  if (NARROW.test(counted)) return counted.length;
  let count = 0;
  for (const character of counted) count += wide.test(character) ? 2 : 1;
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

/** Audio tokens a second. */
const audioTokenRate = 50;
/** Slow speech, so that the estimate is seldom too low: characters a second. */
const slowSpeech = 8;

/** Input and output tokens that speaking a text will take at the most: 50 a second of audio, at least 50. */
export function estimateSpeechTokens(text: string): number {
  return estimateTokens(Buffer.byteLength(text), countCharacters(text, { eastAsian: true }), 1);
}

function estimateTokens(bytes: number, characters: number, pieces: number): number {
  const seconds = characters / slowSpeech;
  return Math.ceil(bytes / 4) + Math.max(audioTokenRate * pieces, Math.ceil(seconds * audioTokenRate));
}

/** What a text that comes bit by bit is expected to take, in the model's unit. */
export class TextEstimate {
  readonly #unit: Unit;
  readonly #options: CountOptions;
  #bytes = 0;
  #characters = 0;
  #pieces = 1;

  constructor(unit: Unit, options: CountOptions = {}) {
    this.#unit = unit;
    this.#options = options;
  }

  /** Units of all the text so far. */
  get units(): number {
    if (this.#unit !== 'tokens') return this.#characters;
    return this.#bytes === 0 ? 0 : estimateTokens(this.#bytes, this.#characters, this.#pieces);
  }

  add(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    this.#characters += countCharacters(text, this.#options);
  }

  /** The text after this is spoken on its own, which has a least price in tokens. */
  cut(): void {
    this.#pieces += 1;
  }
}
