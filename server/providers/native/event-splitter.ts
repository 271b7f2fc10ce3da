const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;

/** Finds the ends of events in a stream with any of the three line ends, cut anywhere. */
export class EventSplitter {
  /** No byte of the current line has arrived. */
  #isLineEmpty = true;
  /** The current event has no fields yet. */
  #hasOnlyComments = true;
  /** The last chunk ended with a carriage return, so a line feed may follow. */
  #afterReturn = false;

  /** The current chunk, and the next line feed and carriage return in it. -1 if there is none. */
  #chunk: Buffer | undefined;
  #nextLineFeed = -1;
  #nextReturn = -1;

  /** Whether the next byte starts a new event. */
  get isBetweenEvents(): boolean {
    return this.#isLineEmpty && this.#hasOnlyComments && !this.#afterReturn;
  }

  /** Returns the index after each event that ends in a chunk. */
  ends(chunk: Buffer): number[] {
    const ends: number[] = [];
    for (let end = this.next(chunk, 0); end >= 0; end = this.next(chunk, end)) ends.push(end);
    return ends;
  }

  /**
   * Returns the index after the next event that ends in a chunk, or -1. `from` must not decrease. A comment outside of an
   * event ends with its line.
   */
  next(chunk: Buffer, from: number): number {
    let at = from;
    if (chunk !== this.#chunk) {
      this.#chunk = chunk;
      this.#nextLineFeed = chunk.indexOf(lineFeed, from);
      this.#nextReturn = chunk.indexOf(carriageReturn, from);
      if (this.#afterReturn && chunk[at] === lineFeed) at += 1;
      if (chunk.length > 0) this.#afterReturn = false;
    }
    while (at < chunk.length) {
      const end = this.#lineEnd(chunk, at);
      if (this.#isLineEmpty && end !== at) {
        this.#isLineEmpty = false;
        this.#hasOnlyComments &&= chunk[at] === colon;
      }
      if (end < 0) return -1;
      at = end + 1;
      if (end === this.#nextReturn && at === chunk.length) this.#afterReturn = true;
      else if (end === this.#nextReturn && chunk[at] === lineFeed) at += 1;
      const isEnd = this.#isLineEmpty || this.#hasOnlyComments;
      this.#isLineEmpty = true;
      if (!isEnd) continue;
      this.#hasOnlyComments = true;
      return at;
    }
    return -1;
  }

  /** Searches again only for the kind that was passed, because a stream may use only one kind. */
  #lineEnd(chunk: Buffer, at: number): number {
    if (this.#nextLineFeed >= 0 && this.#nextLineFeed < at) this.#nextLineFeed = chunk.indexOf(lineFeed, at);
    if (this.#nextReturn >= 0 && this.#nextReturn < at) this.#nextReturn = chunk.indexOf(carriageReturn, at);
    return this.#nextReturn < 0 || (this.#nextLineFeed >= 0 && this.#nextLineFeed < this.#nextReturn)
      ? this.#nextLineFeed
      : this.#nextReturn;
  }
}
