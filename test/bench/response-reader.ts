/** Called with the status and the body length of each complete response. Chunk framing does not count. */
export type OnResponse = (status: number, bodyBytes: number) => void;

const lineFeed = 10;

/**
 * Reads the responses of a keep-alive connection and counts their lengths. A complete client would cost more than the servers
 * under test. Supports content lengths, and chunks without extensions or trailers.
 */
export class ResponseReader {
  readonly #onResponse: OnResponse;
  #rest: Buffer | undefined;
  #status = 0;
  #bodyBytes = 0;
  /** Missing bytes of the body, or of the chunk and its line end. */
  #missing = 0;
  #state: 'head' | 'body' | 'chunk size' | 'chunk' = 'head';

  constructor(onResponse: OnResponse) {
    this.#onResponse = onResponse;
  }

  /** @throws Error on an unsupported response */
  read(data: Buffer): void {
    const bytes = this.#rest === undefined ? data : Buffer.concat([this.#rest, data]);
    this.#rest = undefined;
    let offset = 0;
    while (offset < bytes.length) {
      const next = this.#state === 'head' ? this.#readHead(bytes, offset) : this.#readBody(bytes, offset);
      if (next < 0) {
        this.#rest = bytes.subarray(offset);
        return;
      }
      offset = next;
    }
  }

  /** Reads a head. Returns the offset of its body, or -1 if the head is incomplete. */
  #readHead(bytes: Buffer, offset: number): number {
    const end = bytes.indexOf('\r\n\r\n', offset);
    if (end < 0) return -1;
    const head = bytes.toString('latin1', offset, end).toLowerCase();
    if (!head.startsWith('http/1.1 ')) throw new Error(`not a response: ${head.slice(0, 40)}`);
    this.#status = Number(head.slice(9, 12));
    this.#bodyBytes = 0;
    const lengthAt = head.indexOf('\r\ncontent-length:');
    if (lengthAt >= 0) {
      this.#missing = Number.parseInt(head.slice(lengthAt + 17, lengthAt + 33), 10);
      this.#bodyBytes = this.#missing;
      this.#state = 'body';
      if (this.#missing === 0) this.#finish();
    } else if (head.includes('\r\ntransfer-encoding: chunked')) {
      this.#state = 'chunk size';
    } else {
      throw new Error('a response has neither a length nor chunks');
    }
    return end + 4;
  }

  #readBody(bytes: Buffer, offset: number): number {
    if (this.#state === 'chunk size') return this.#readChunkSize(bytes, offset);
    const consumed = Math.min(this.#missing, bytes.length - offset);
    this.#missing -= consumed;
    if (this.#missing === 0) {
      if (this.#state === 'body') this.#finish();
      // The line end after the empty last chunk ends the response.
      else if (this.#isLastChunk) this.#finish();
      else this.#state = 'chunk size';
    }
    return offset + consumed;
  }

  #isLastChunk = false;

  #readChunkSize(bytes: Buffer, offset: number): number {
    const end = bytes.indexOf(lineFeed, offset);
    if (end < 0) return -1;
    const size = Number.parseInt(bytes.toString('latin1', offset, end - 1), 16);
    if (!(size >= 0)) throw new Error('a chunk has no size');
    this.#bodyBytes += size;
    this.#isLastChunk = size === 0;
    this.#missing = size + 2;
    this.#state = 'chunk';
    return end + 1;
  }

  #finish(): void {
    this.#state = 'head';
    this.#onResponse(this.#status, this.#bodyBytes);
  }
}
