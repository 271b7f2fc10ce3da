import { splitSentences } from '../reading.ts';
import { blankTriggers } from '../triggers.ts';

/** A full stop after a digit may be the point of a number that goes on. */
const sentenceEnd = /(?:[!?。！？…\n]|(?<!\p{N})\.)["'”’）)\]]*\s*$/u;
const speakable = /[\p{L}\p{N}]/u;

/** Text that arrives in pieces of any size. What is taken out, joined, is what was put in. */
export class TextBuffer {
  #text = '';

  get length(): number {
    return this.#text.length;
  }

  /** Is there nothing to speak in it? */
  get blank(): boolean {
    return this.#text.trim() === '';
  }

  append(text: string): void {
    this.#text += text;
  }

  clear(): void {
    this.#text = '';
  }

  /** Takes the sentences that have ended, as one text; empty when none has. */
  takeSentences(): string {
    // Triggers are cut with the sentence they stand in, not as sentences of their own.
    const text = blankTriggers(this.#text);
    const last = splitSentences(text).at(-1) ?? '';
    const ended = speakable.test(last) && sentenceEnd.test(last);
    const length = ended ? text.length : text.length - last.length;
    return speakable.test(text.slice(0, length)) ? this.#take(length) : '';
  }

  /** Takes everything. */
  takeAll(): string {
    return this.#take(this.#text.length);
  }

  #take(length: number): string {
    const taken = this.#text.slice(0, length);
    this.#text = this.#text.slice(length);
    return taken;
  }
}
