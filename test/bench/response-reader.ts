/** Told of each answer once its last byte is in: its status and the length of its body without the chunk frames. */
export type OnAnswer = (status: number, bodyBytes: number) => void;

const lineFeed = 10;

/**
 * Reads the answers of one keep-alive connection and keeps nothing but their lengths: a full client would cost
 * more than the servers under test. Knows content lengths and chunks without extensions or trailers.
 */
export class ResponseReader {
  readonly #onAnswer: OnAnswer;
  #rest: Buffer | undefined;
  #status = 0;
  #bodyBytes = 0;
  /** Bytes of the body, or of the chunk and its line end, that have not come yet. */
  #missing = 0;
  #state: 'head' | 'body' | 'chunk size' | 'chunk' = 'head';

  constructor(onAnswer: OnAnswer) {
    this.#onAnswer = onAnswer;
  }

  /** @throws Error when the bytes are not an answer of the kind it knows. */
  read(data: Buffer): void {
    const bytes = this.#rest === undefined ? data : Buffer.concat([this.#rest, data]);
    this.#rest = undefined;
    let at = 0;
    while (at < bytes.length) {
      const next = this.#state === 'head' ? this.#head(bytes, at) : this.#body(bytes, at);
      if (next < 0) {
        this.#rest = bytes.subarray(at);
        return;
      }
      at = next;
    }
  }

  /** Takes a head and returns where its body starts; -1 when the head is not complete. */
  #head(bytes: Buffer, at: number): number {
    const end = bytes.indexOf('\r\n\r\n', at);
    if (end < 0) return -1;
    const head = bytes.toString('latin1', at, end).toLowerCase();
    if (!head.startsWith('http/1.1 ')) throw new Error(`not an answer: ${head.slice(0, 40)}`);
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
      throw new Error('an answer has neither a length nor chunks');
    }
    return end + 4;
  }

  #body(bytes: Buffer, at: number): number {
    if (this.#state === 'chunk size') return this.#chunkSize(bytes, at);
    const taken = Math.min(this.#missing, bytes.length - at);
    this.#missing -= taken;
    if (this.#missing === 0) {
      if (this.#state === 'body') this.#finish();
      // The line end after the last chunk, which is empty, ends the answer.
      else if (this.#lastChunk) this.#finish();
      else this.#state = 'chunk size';
    }
    return at + taken;
  }

  #lastChunk = false;

  #chunkSize(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(lineFeed, at);
    if (end < 0) return -1;
    const size = Number.parseInt(bytes.toString('latin1', at, end - 1), 16);
    if (!(size >= 0)) throw new Error('a chunk has no size');
    this.#bodyBytes += size;
    this.#lastChunk = size === 0;
    this.#missing = size + 2;
    this.#state = 'chunk';
    return end + 1;
  }

  #finish(): void {
    this.#state = 'head';
    this.#onAnswer(this.#status, this.#bodyBytes);
  }
}
