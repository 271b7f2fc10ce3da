import { parseJson } from '../../lib/json.ts';
import { JsonScanner } from '../../media/json-scanner.ts';
import { unusableResponse } from '../unusable-response.ts';

const [comma, space] = [0x2c, 0x20];
const [bracket, closingBracket, brace, closingBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Longest object of one vector, in bytes: more than 65,536 numbers take. */
const maxItemBytes = 4 * 1024 * 1024;
/** Maximum size of the rest of a response. */
const maxOutlineBytes = 64 * 1024;

/**
 * Splits an embeddings response into the object of each vector and the outline around them. Thousands of vectors take
 * tens of megabytes, which must not be held or parsed at once.
 */
export class ResponseSplitter {
  readonly #scanner = new JsonScanner();
  /** The response without the vectors, one character per byte. */
  #outline = '';
  #depth = 0;
  /** Between the brackets of `data`. */
  #inData = false;
  /** Parts of the current vector's object. */
  #item: Buffer[] | undefined;
  #itemBytes = 0;

  /** Returns the objects that are complete with this chunk. @throws Failure 502 for any other response */
  write(chunk: Buffer): Buffer[] {
    const items: Buffer[] = [];
    /** Start of the bytes that are not stored yet, of the current object or of the outline. */
    let unstored = 0;
    for (const { isString, from, to } of this.#scanner.runs(chunk)) {
      if (isString) continue;
      for (let at = from; at < to; at += 1) {
        const byte = chunk[at] ?? 0;
        const betweenItems = this.#inData && this.#item === undefined;
        if (byte === brace || byte === bracket) {
          if (betweenItems) {
            if (byte === bracket) throw unusableResponse();
            this.#item = [];
            unstored = at;
          }
          this.#depth += 1;
          if (this.#depth !== 2 || byte === brace) continue;
          this.#store(chunk.subarray(unstored, at + 1));
          unstored = at + 1;
          this.#inData = /"data"\s*:\s*\[$/.test(this.#outline.slice(-64));
        } else if (byte === closingBrace || byte === closingBracket) {
          this.#depth -= 1;
          if (this.#item !== undefined && this.#depth === 2) {
            this.#store(chunk.subarray(unstored, at + 1));
            items.push(Buffer.concat(this.#item));
            this.#item = undefined;
            this.#itemBytes = 0;
            unstored = at + 1;
          } else if (this.#inData && this.#depth === 1) {
            this.#inData = false;
            unstored = at;
          }
        } else if (betweenItems && byte > space && byte !== comma) throw unusableResponse();
      }
    }
    if (this.#item !== undefined || !this.#inData) this.#store(chunk.subarray(unstored));
    return items;
  }

  /** Returns the outline, whose `data` is empty. @throws Failure 502 when the response is incomplete */
  end(): unknown {
    const outline = parseJson(Buffer.from(this.#outline, 'latin1'));
    if (outline === undefined) throw unusableResponse();
    return outline;
  }

  #store(bytes: Buffer): void {
    if (this.#item === undefined) {
      this.#outline += bytes.toString('latin1');
      if (this.#outline.length > maxOutlineBytes) throw unusableResponse();
    } else {
      this.#item.push(bytes);
      this.#itemBytes += bytes.length;
      if (this.#itemBytes > maxItemBytes) throw unusableResponse();
    }
  }
}
