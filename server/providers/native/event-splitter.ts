import { ByteSearch } from '../../media/json-scanner.ts';

const [lineFeed, carriageReturn, colon] = [0x0a, 0x0d, 0x3a];

/** Finds the ends of events in a stream with any of the three line ends, cut anywhere. */
export class EventSplitter {
  /** No byte of the current line has arrived. */
  #isLineEmpty = true;
  /** The current event has no fields yet. */
  #hasOnlyComments = true;
  /** The last chunk ended with a carriage return, so a line feed may follow. */
  #afterReturn = false;
  #chunk: Buffer | undefined;
  #search = new ByteSearch(Buffer.alloc(0));

  /** Whether the next byte starts a new event. */
  get isBetweenEvents(): boolean {
    return this.#isLineEmpty && this.#hasOnlyComments && !this.#afterReturn;
  }

  /** Returns the index after the next event that ends in a chunk, or -1. `from` must not decrease. */
  next(chunk: Buffer, from: number): number {
    let at = from;
    if (chunk !== this.#chunk) {
      this.#chunk = chunk;
      this.#search = new ByteSearch(chunk);
      if (this.#afterReturn && chunk[at] === lineFeed) at += 1;
      if (chunk.length > 0) this.#afterReturn = false;
    }
    while (at < chunk.length) {
      const end = Math.min(this.#search.next(lineFeed, at), this.#search.next(carriageReturn, at));
      if (this.#isLineEmpty && end !== at) {
        this.#isLineEmpty = false;
        this.#hasOnlyComments &&= chunk[at] === colon;
      }
      if (end === chunk.length) return -1;
      at = end + 1;
      if (chunk[end] === carriageReturn) {
        if (at === chunk.length) this.#afterReturn = true;
        else if (chunk[at] === lineFeed) at += 1;
      }
      // A comment outside of an event ends with its line.
      const isEnd = this.#isLineEmpty || this.#hasOnlyComments;
      this.#isLineEmpty = true;
      if (!isEnd) continue;
      this.#hasOnlyComments = true;
      return at;
    }
    return -1;
  }
}
