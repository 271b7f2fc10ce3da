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

  /**
   * The indices after the ends of events in a piece. A comment outside of an event ends with its line: nothing that
   * follows belongs to it.
   */
  ends(piece: Buffer): number[] {
    const ends: number[] = [];
    let at = this.#afterReturn && piece[0] === lineFeed ? 1 : 0;
    if (piece.length > 0) this.#afterReturn = false;
    // Each kind is looked for again only when it has been passed: a stream may have but one of them.
    let feed = piece.indexOf(lineFeed, at);
    let back = piece.indexOf(carriageReturn, at);
    while (at < piece.length) {
      if (feed >= 0 && feed < at) feed = piece.indexOf(lineFeed, at);
      if (back >= 0 && back < at) back = piece.indexOf(carriageReturn, at);
      const end = back < 0 || (feed >= 0 && feed < back) ? feed : back;
      if (this.#blank && end !== at) {
        this.#blank = false;
        this.#comments &&= piece[at] === colon;
      }
      if (end < 0) return ends;
      at = end + 1;
      if (end === back && at === piece.length) this.#afterReturn = true;
      else if (end === back && piece[at] === lineFeed) at += 1;
      if (this.#blank || this.#comments) {
        ends.push(at);
        this.#comments = true;
      }
      this.#blank = true;
    }
    return ends;
  }
}
