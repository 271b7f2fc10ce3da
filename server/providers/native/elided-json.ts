import { Failure } from '../../lib/failure.ts';

const quote = 0x22;
const backslash = 0x5c;
/** Bytes that are kept of a string; whole groups of Base64 and of hexadecimal digits. */
const keptOfString = 64;
/** The length of a string whose end is being looked for. */
const cut = Number.MAX_SAFE_INTEGER;
/** Bytes that are kept of an answer: more than its facts take. */
const maxBytes = 1024 * 1024;

/**
 * What an answer says, without its audio: JSON, or events of it, whose long strings are cut. It is read while the
 * answer passes, and costs no more memory for a longer one.
 */
export class ElidedJson {
  #text = '';
  /** Bytes of the string that it ends in so far; -1: it ends outside of one. */
  #length = -1;
  /** The next byte belongs to an escape. */
  #escaped = false;

  /** @throws Failure 502 when it says more than any answer does. */
  push(bytes: Buffer): void {
    // Each byte outside of audio is looked at by itself, so this is written for speed.
    const { length: end } = bytes;
    let length = this.#length;
    let escaped = this.#escaped;
    let at = 0;
    if (escaped && length === cut) {
      at = 1;
      escaped = false;
    }
    let from = at;
    let escape = -2;
    while (at < end) {
      if (length >= keptOfString && !escaped) {
        this.#keep(bytes, from, at);
        length = cut;
        // To the quote that ends the string, over the escapes in it.
        for (;;) {
          const stop = bytes.indexOf(quote, at);
          if (escape !== -1 && escape < at) escape = bytes.indexOf(backslash, at);
          if (escape < 0 || (stop >= 0 && stop < escape)) {
            at = stop < 0 ? end : stop;
            break;
          }
          at = escape + 2;
          if (at > end) break;
        }
        escaped = at > end;
        from = Math.min(at, end);
        if (at >= end) break;
      }
      const byte = bytes[at];
      at += 1;
      if (length < 0) {
        if (byte === quote) length = 0;
      } else if (escaped) {
        escaped = false;
      } else if (byte === quote) {
        length = -1;
      } else {
        escaped = byte === backslash;
        length += 1;
      }
    }
    this.#keep(bytes, from, Math.min(at, end));
    this.#length = length;
    this.#escaped = escaped;
  }

  /** All so far, each byte as a character; it starts anew after this. */
  take(): string {
    const text = this.#text;
    this.#text = '';
    this.#length = -1;
    this.#escaped = false;
    return text;
  }

  /** The same, and goes on. */
  get text(): string {
    return this.#text;
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    if (to > from) this.#text += bytes.toString('latin1', from, to);
    if (this.#text.length > maxBytes)
      throw new Failure(502, 'bad_response', 'The provider gave an answer that is too long.');
  }
}
