const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;

/** Finds where the events of a stream end, whichever of the three line ends it uses and wherever it is cut. */
export class EventSplitter {
  /** Nothing of the current line has come. */
  #blank = true;
  /** The current event has had comments at most. */
  #comments = true;
  /** The last piece ended in a carriage return, whose line feed may follow. */
  #afterReturn = false;

  /** The piece at hand, and where the next line feed and carriage return in it stand; -1: there is none. */
  #piece: Buffer | undefined;
  #feed = -1;
  #back = -1;

  /** Whether the next byte begins something new: all that came before has ended. */
  get fresh(): boolean {
    return this.#blank && this.#comments && !this.#afterReturn;
  }

  /** The indices after the ends of all events in a piece. */
  ends(piece: Buffer): number[] {
    const ends: number[] = [];
    for (let end = this.next(piece, 0); end >= 0; end = this.next(piece, end)) ends.push(end);
    return ends;
  }

  /**
   * The index after the end of the first event in a piece behind `from`, which never goes back; -1: it goes on in the
   * next piece. A comment outside of an event ends with its line: nothing that follows belongs to it.
   */
  next(piece: Buffer, from: number): number {
    let at = from;
    if (piece !== this.#piece) {
      this.#piece = piece;
      this.#feed = piece.indexOf(lineFeed, from);
      this.#back = piece.indexOf(carriageReturn, from);
      if (this.#afterReturn && piece[at] === lineFeed) at += 1;
      if (piece.length > 0) this.#afterReturn = false;
    }
    while (at < piece.length) {
      const end = this.#lineEnd(piece, at);
      if (this.#blank && end !== at) {
        this.#blank = false;
        this.#comments &&= piece[at] === colon;
      }
      if (end < 0) return -1;
      at = end + 1;
      if (end === this.#back && at === piece.length) this.#afterReturn = true;
      else if (end === this.#back && piece[at] === lineFeed) at += 1;
      const over = this.#blank || this.#comments;
      this.#blank = true;
      if (!over) continue;
      this.#comments = true;
      return at;
    }
    return -1;
  }

  /** Each kind is looked for again only when it has been passed: a stream may have but one of them. */
  #lineEnd(piece: Buffer, at: number): number {
    if (this.#feed >= 0 && this.#feed < at) this.#feed = piece.indexOf(lineFeed, at);
    if (this.#back >= 0 && this.#back < at) this.#back = piece.indexOf(carriageReturn, at);
    return this.#back < 0 || (this.#feed >= 0 && this.#feed < this.#back) ? this.#feed : this.#back;
  }
}
