const [quote, backslash, lineFeed, carriageReturn] = [0x22, 0x5c, 0x0a, 0x0d];
/** In longer strings, a search is faster than a loop over the bytes. */
const shortBytes = 64;

/** Consecutive bytes of a chunk inside or outside of a string. The quotes are outside. */
export interface JsonRun {
  isString: boolean;
  from: number;
  to: number;
  /** The string ends here. Otherwise it continues in the next chunk. */
  isEnd: boolean;
}

/**
 * Separates the strings of JSON, or of events with JSON, from the bytes around them. Chunks may be cut anywhere. A raw
 * line break also ends a string, so a quote in the comment of an event affects only its line.
 */
export class JsonScanner {
  #inString = false;
  /** The next byte belongs to an escape. */
  #isEscaped = false;

  /** Yields the runs of a chunk in order. An empty string yields an empty run. */
  *runs(chunk: Buffer): Generator<JsonRun, void, void> {
    const { length } = chunk;
    const search = new ByteSearch(chunk);
    let at = 0;
    while (at < length) {
      let outside = at;
      if (this.#inString) {
        const end = this.#endOfString(chunk, search, at);
        this.#inString = end >= length;
        this.#isEscaped = end > length;
        yield { isString: true, from: at, to: Math.min(end, length), isEnd: !this.#inString };
        if (this.#inString) return;
        at = end;
        outside = end + 1;
      }
      while (outside < length && chunk[outside] !== quote) outside += 1;
      this.#inString = outside < length;
      const to = Math.min(outside + 1, length);
      yield { isString: false, from: at, to, isEnd: false };
      at = to;
    }
  }

  /** Returns the index after a string's content. The length if it continues, one more if an escape is cut. */
  #endOfString(chunk: Buffer, search: ByteSearch, from: number): number {
    const { length } = chunk;
    let at = this.#isEscaped ? from + 1 : from;
    for (const near = Math.min(at + shortBytes, length); at < near; at += 1) {
      const byte = chunk[at];
      if (byte === quote || byte === lineFeed || byte === carriageReturn) return at;
      if (byte === backslash) at += 1;
    }
    while (at < length) {
      const end = Math.min(
        search.next(quote, at),
        search.next(lineFeed, at),
        search.next(carriageReturn, at),
      );
      const escape = search.next(backslash, at);
      if (end <= escape) return end;
      at = escape + 2;
    }
    return at;
  }
}

/** Finds bytes of a chunk in increasing order. Searches again only for a byte that was passed. */
export class ByteSearch {
  readonly #chunk: Buffer;
  readonly #found = new Map<number, number>();

  constructor(chunk: Buffer) {
    this.#chunk = chunk;
  }

  /** Returns the index of the next byte of a value. The length if there is none. */
  next(byte: number, from: number): number {
    const found = this.#found.get(byte) ?? -1;
    if (found >= from) return found;
    const index = this.#chunk.indexOf(byte, from);
    const next = index < 0 ? this.#chunk.length : index;
    this.#found.set(byte, next);
    return next;
  }
}
