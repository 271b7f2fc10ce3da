const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
/** The longest string that is waited for, in bytes; no address is longer. */
const maxHeld = 16 * 1024;
/** The longest name of a field that is told. */
const maxName = 64;

/**
 * Puts something else in the place of the addresses in JSON, or in events of it, while it passes. All else passes
 * byte for byte, and only a string that may be an address waits for its end: audio is neither held nor parsed.
 */
export class JsonLinks {
  readonly #shown: (url: string, field: string) => string;
  #inside = false;
  /** The next byte belongs to an escape. */
  #escaped = false;
  /** What earlier pieces have of the current string, as long as it may be an address or a name. */
  #begun: Buffer[] = [];
  #size = 0;
  /** What has begun waits for its end. */
  #held = false;
  /** The last string, which is a name if a colon follows. */
  #last = '';
  #field = '';

  /** `shown`: what stands for an address that `field` holds, or an item of it. */
  constructor(shown: (url: string, field: string) => string) {
    this.#shown = shown;
  }

  /** What may go on now; it keeps none of the piece's bytes, but copies. */
  take(piece: Buffer): Buffer[] {
    const out: Buffer[] = [];
    const finder = new StringEnds(piece);
    let from = 0;
    let at = 0;
    while (at < piece.length) {
      if (!this.#inside) {
        const byte = piece[at];
        at += 1;
        if (byte === quote) this.#begin();
        else if (byte === colon) this.#field = this.#last;
        if (byte !== quote || at < piece.length) continue;
        // The string may begin with the next piece.
        out.push(piece.subarray(from));
        this.#held = true;
        return out;
      }
      const first = this.#size === 0 && !this.#held;
      const stop = this.#escaped ? finder.after(at + 1) : finder.after(at);
      const part = piece.subarray(at, Math.min(stop, piece.length));
      if (stop < piece.length) {
        const whole = this.#begun.length === 0 ? part : Buffer.concat([...this.#begun, part]);
        const linked = (this.#held || first) && mayBeAddress(whole) ? this.#linked(whole) : undefined;
        if (this.#held) {
          out.push(linked ?? whole);
          from = stop;
        } else if (linked !== undefined) {
          out.push(piece.subarray(from, at), linked);
          from = stop;
        }
        this.#last = this.#size + part.length <= maxName ? whole.toString('latin1') : '';
        this.#inside = false;
        this.#escaped = false;
        this.#held = false;
        at = stop + 1;
        continue;
      }
      // A backslash at the very end has its character in the next piece.
      this.#escaped = stop > piece.length;
      if (first && mayBeAddress(part)) {
        out.push(piece.subarray(from, at));
        from = at;
        this.#held = true;
      }
      this.#keep(part);
      if (this.#held) {
        from = piece.length;
        if (this.#size > maxHeld) out.push(...this.#release());
      }
      at = piece.length;
    }
    if (from < piece.length) out.push(piece.subarray(from));
    return out;
  }

  /** What is left at the end. */
  end(): Buffer[] {
    return this.#held ? this.#release() : [];
  }

  #begin(): void {
    this.#inside = true;
    this.#escaped = false;
    this.#held = false;
    this.#begun = [];
    this.#size = 0;
  }

  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#held || this.#size <= maxName) this.#begun.push(Buffer.from(part));
  }

  #release(): Buffer[] {
    const begun = this.#begun;
    this.#begun = [];
    this.#held = false;
    return begun;
  }

  /** Undefined: it stays. */
  #linked(content: Buffer): Buffer | undefined {
    const url = addressIn(content);
    if (url === undefined) return undefined;
    const shown = this.#shown(url, this.#field);
    return shown === url ? undefined : Buffer.from(JSON.stringify(shown).slice(1, -1));
  }
}

/** Whether a string's content can begin an address: any character may be escaped. */
function mayBeAddress(content: Buffer): boolean {
  const [first] = content;
  return first === undefined || first === 0x68 || first === 0x48 || first === backslash;
}

function addressIn(content: Buffer): string | undefined {
  try {
    const text = JSON.parse(`"${content.toString('utf8')}"`) as string;
    return /^https?:\/\/\S+$/i.test(text) && URL.canParse(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Finds where strings of a piece end, looking at each byte of a long one but a few times. */
class StringEnds {
  readonly #piece: Buffer;
  /** Where each kind of byte comes next, as last looked for; -1: nowhere. */
  readonly #next = new Map<number, number>();

  constructor(piece: Buffer) {
    this.#piece = piece;
  }

  /**
   * The index of the quote, or of the line's end, that ends a string from `at` on: no string of JSON has lines, so
   * one that is none does no harm beyond its line. The length: it does not end; one more: it ends in a backslash.
   */
  after(at: number): number {
    const { length } = this.#piece;
    let from = at;
    for (;;) {
      if (from > length) return from;
      const stop = Math.min(...[quote, lineFeed, carriageReturn].map((byte) => this.#find(byte, from)));
      const escape = this.#find(backslash, from);
      if (stop <= escape) return Math.min(stop, length);
      from = escape + 2;
    }
  }

  #find(byte: number, from: number): number {
    let found = this.#next.get(byte) ?? -2;
    if (found !== -1 && found < from) {
      found = this.#piece.indexOf(byte, from);
      this.#next.set(byte, found);
    }
    return found === -1 ? this.#piece.length : found;
  }
}
