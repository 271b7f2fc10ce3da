/**
 * Usage that the upstream charges for.
 *
 * - Characters: a Han ideograph counts as 2 in every language, any other character as 1. SSML tags are removed before
 * counting.
 * - Text tokens: one for every 4 bytes of UTF-8, rounded up, which approximates an ordinary tokenizer.
 * - Audio tokens: 50 per second of audio, at least 50.
 */

const ideograph = /\p{Script=Han}/u;

export function countCharacters(text: string): number {
  let count = 0;
  for (const character of text) count += ideograph.test(character) ? 2 : 1;
  return count;
}

const spokenToken =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{1,16}/gu;

/** Counts the tokens of spoken text: words between spaces, and single characters in scripts without spaces. */
export function countSpokenTokens(text: string): number {
  return text.match(spokenToken)?.length ?? 0;
}

export function countTextTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}

export function countAudioTokens(seconds: number): number {
  return Math.max(50, Math.ceil(seconds * 50));
}

/** Sums up the usage of one request while it is synthesized. */
export class Meter {
  characters = 0;
  /** Seconds of audio. */
  seconds = 0;
  /** Bytes of encoded audio. */
  audioBytes = 0;
  #textBytes = 0;

  get textTokens(): number {
    return Math.ceil(this.#textBytes / 4);
  }

  get audioTokens(): number {
    return countAudioTokens(this.seconds);
  }

  addSentence(text: string, seconds: number): void {
    this.characters += countCharacters(text);
    this.#textBytes += Buffer.byteLength(text);
    this.seconds += seconds;
  }
}
