import { JsonScanner } from '../../media/json-scanner.ts';
import { badResponse } from '../unusable-response.ts';

/** Bytes that are stored of a string: whole groups of Base64 and of hexadecimal digits. */
const maxStringBytes = 64;
const maxBytes = 1024 * 1024;

/** Stores JSON, or events with JSON, with long strings cut off. So a response with audio is parsed without its audio. */
export class ElidedJson {
  readonly #scanner = new JsonScanner();
  #text = '';
  /** Start of the current string, and the bytes of it so far. */
  #string = '';
  #stringBytes = 0;
  /** Number of characters at the end of `#text` after the last string that was cut off. */
  #textAfterCut = 0;

  /** @throws Failure 502 when too much remains. */
  push(chunk: Buffer): void {
    let unstored = 0;
    for (const { isString, from, to, isEnd } of this.#scanner.runs(chunk)) {
      if (!isString || (isEnd && this.#stringBytes === 0 && to - from <= maxStringBytes)) continue;
      this.#store(chunk, unstored, from);
      unstored = to;
      const rest = Math.max(0, maxStringBytes - this.#stringBytes);
      this.#string += chunk.toString('latin1', from, Math.min(to, from + rest));
      this.#stringBytes += to - from;
      if (!isEnd) continue;
      const isCut = this.#stringBytes > maxStringBytes;
      this.#text += isCut ? withoutCutEscape(this.#string) : this.#string;
      this.#textAfterCut = isCut ? 0 : this.#textAfterCut + this.#stringBytes;
      this.#string = '';
      this.#stringBytes = 0;
    }
    this.#store(chunk, unstored, chunk.length);
  }

  /** The JSON so far, one character per byte. */
  get text(): string {
    return this.#text + this.#string;
  }

  /** Number of bytes so far that follow the last string that was cut off. `text` ends with them. */
  get bytesAfterCut(): number {
    return this.#stringBytes > maxStringBytes ? 0 : this.#textAfterCut + this.#stringBytes;
  }

  #store(chunk: Buffer, from: number, to: number): void {
    this.#text += chunk.toString('latin1', from, to);
    this.#textAfterCut += to - from;
    if (this.#text.length > maxBytes) throw badResponse('The provider sent a response that is too long.');
  }
}

function withoutCutEscape(string: string): string {
  return /^(?:[^\\]|\\u[\da-f]{4}|\\[^u])*/i.exec(string)?.[0] ?? '';
}
