import { splitSentences } from '../sentences.ts';
import { blankTriggers } from '../triggers.ts';

/** A full stop after a digit can be a decimal point of an incomplete number. */
const sentenceEnd = /(?:[!?。！？…\n]|(?<!\p{N})\.)["'”’）)\]]*\s*$/u;
const speakable = /[\p{L}\p{N}]/u;

/** Buffers text that arrives in chunks of any size. Concatenating all reads returns the appended text. */
export class TextBuffer {
  #text = '';

  get length(): number {
    return this.#text.length;
  }

  get isBlank(): boolean {
    return this.#text.trim() === '';
  }

  append(text: string): void {
    this.#text += text;
  }

  clear(): void {
    this.#text = '';
  }

  /** Removes and returns the complete sentences as one text, or an empty string. */
  readSentences(): string {
    // A trigger is split off together with its sentence, not as a sentence of its own.
    const text = blankTriggers(this.#text);
    const last = splitSentences(text).at(-1) ?? '';
    const isComplete = speakable.test(last) && sentenceEnd.test(last);
    const length = isComplete ? text.length : text.length - last.length;
    return speakable.test(text.slice(0, length)) ? this.#read(length) : '';
  }

  /** Removes and returns the whole text. */
  readAll(): string {
    return this.#read(this.#text.length);
  }

  #read(length: number): string {
    const taken = this.#text.slice(0, length);
    this.#text = this.#text.slice(length);
    return taken;
  }
}
