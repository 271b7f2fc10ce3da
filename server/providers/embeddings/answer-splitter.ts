import { unusableResponse } from '../unusable-response.ts';

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c];
const [bracket, closingBracket, brace, closingBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
const space = 0x20;

/** Longest object of one vector, in bytes: more than 65,536 numbers take. */
const maxItemBytes = 4 * 1024 * 1024;
/** Longest rest of an answer. */
const maxOutlineBytes = 64 * 1024;

/**
 * Takes an embeddings answer apart while it comes: the object of each vector by itself, and what stands around them.
 * Thousands of vectors are many megabytes, which nobody should hold or parse in one go.
 */
export class AnswerSplitter {
  /** All but the vectors, as Latin-1. */
  #outline = '';
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Between the brackets of `data`. */
  #inData = false;
  /** The vector at hand, as far as it has come. */
  #item: Buffer[] | undefined;
  #itemBytes = 0;

  /**
   * The vectors' objects that are whole with this piece.
   *
   * @throws Failure 502 for what is no embeddings answer
   */
  take(piece: Buffer): Buffer[] {
    const items: Buffer[] = [];
    /** What was not kept yet, of the vector at hand or of the outline. */
    let from = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at] ?? 0;
      if (this.#inString) {
        at = this.#readString(piece, at);
      } else if (byte === quote) {
        this.#inString = true;
        if (this.#betweenItems) throw unusableResponse();
      } else if (byte === brace || byte === bracket) {
        if (this.#betweenItems) {
          if (byte === bracket) throw unusableResponse();
          this.#item = [];
          from = at;
        }
        this.#depth += 1;
        if (this.#depth !== 2 || byte === brace) continue;
        this.#keep(piece.subarray(from, at + 1));
        from = at + 1;
        this.#inData = /"data"\s*:\s*\[$/.test(this.#outline.slice(-64));
      } else if (byte === closingBrace || byte === closingBracket) {
        this.#depth -= 1;
        if (this.#item !== undefined && this.#depth === 2) {
          items.push(this.#whole(piece.subarray(from, at + 1)));
          from = at + 1;
        } else if (this.#inData && this.#depth === 1) {
          this.#inData = false;
          from = at;
        }
      } else if (this.#betweenItems && byte > space && byte !== comma) throw unusableResponse();
    }
    if (this.#item !== undefined) this.#hold(piece.subarray(from));
    else if (!this.#inData) this.#keep(piece.subarray(from));
    return items;
  }

  /** What stands around the vectors, of which `data` is empty. @throws Failure 502 when the answer is not whole */
  end(): unknown {
    try {
      return JSON.parse(Buffer.from(this.#outline, 'latin1').toString('utf8'));
    } catch {
      throw unusableResponse();
    }
  }

  get #betweenItems(): boolean {
    return this.#inData && this.#item === undefined;
  }

  /** Gives the place of the last byte that belongs to the string. */
  #readString(piece: Buffer, from: number): number {
    for (let at = from; at < piece.length; at += 1) {
      const byte = piece[at];
      if (this.#escaped) this.#escaped = false;
      else if (byte === backslash) this.#escaped = true;
      else if (byte === quote) {
        this.#inString = false;
        return at;
      }
    }
    return piece.length;
  }

  #whole(last: Buffer): Buffer {
    this.#hold(last);
    const item = Buffer.concat(this.#item ?? []);
    this.#item = undefined;
    this.#itemBytes = 0;
    return item;
  }

  #hold(bytes: Buffer): void {
    this.#item?.push(bytes);
    this.#itemBytes += bytes.length;
    if (this.#itemBytes > maxItemBytes) throw unusableResponse();
  }

  #keep(bytes: Buffer): void {
    this.#outline += bytes.toString('latin1');
    if (this.#outline.length > maxOutlineBytes) throw unusableResponse();
  }
}
