import type { Dispatcher } from 'undici';

/** Is given a body as it comes: its pieces, then either its end or why there is none. */
export interface PieceSink {
  take(piece: Buffer): void;
  end(): void;
  fail(error: unknown): void;
}

/** Something that comes in pieces. */
export interface Pieces {
  /** Gives them to a sink from now on. Once. */
  flow(sink: PieceSink): void;
  /** Gives no more until `resume`. */
  pause(): void;
  resume(): void;
  /** Breaks it off; nothing more is given. */
  destroy(): void;
}

/** Bytes that nobody has taken yet from which on the sender waits. */
const enough = 64 * 1024;
/** Bytes that are read for the sake of the connection. */
const worthReading = 128 * 1024;

/**
 * The body of an answer, no stream of Node's: most are there as a whole a moment after their head, and those of many small
 * pieces would spend their time in the stream.
 */
export class AnswerBody implements Pieces, AsyncIterable<Buffer> {
  readonly #sender: Pick<Dispatcher.DispatchController, 'pause' | 'resume' | 'abort' | 'paused'>;
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  /** Unread bytes from which on the sender waits. */
  #room = enough;
  #state: 'coming' | 'whole' | 'broken' = 'coming';
  #error: unknown;
  #sink: PieceSink | undefined;
  #paused = false;
  /** Called when something has come. */
  #wake: (() => void) | undefined;
  #onClose: ((error?: unknown) => void)[] = [];
  #closed = false;

  /** `sender` is told to wait, to go on, and that nobody wants the rest. */
  constructor(sender: Pick<Dispatcher.DispatchController, 'pause' | 'resume' | 'abort' | 'paused'>) {
    this.#sender = sender;
  }

  /** Calls back once when all is read, or nothing more comes; with the error where that broke it. */
  onClose(listener: (error?: unknown) => void): void {
    if (this.#closed) listener(this.#state === 'broken' ? this.#error : undefined);
    else this.#onClose.push(listener);
  }

  /** All of it, as soon as it is there; undefined when it has more than `limit` bytes: then none of it is taken. */
  async whole(limit: number): Promise<Buffer | undefined> {
    this.#room = Math.max(enough, limit + 1);
    while (this.#state === 'coming' && this.#unreadBytes <= limit) await this.#more();
    this.#room = enough;
    if (this.#state === 'broken') throw this.#error;
    if (this.#unreadBytes > limit) return undefined;
    const [first] = this.#unread;
    const bytes = first !== undefined && this.#unread.length === 1 ? first : Buffer.concat(this.#unread);
    this.#forget();
    this.#close();
    return bytes;
  }

  flow(sink: PieceSink): void {
    this.#sink = sink;
    if (this.#state === 'broken') sink.fail(this.#error);
    // Nothing of an empty one is left to be taken.
    else if (this.#closed) sink.end();
    else this.resume();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    while (this.#sink !== undefined && !this.#paused) {
      const piece = this.#shift();
      if (piece === undefined) break;
      this.#sink.take(piece);
    }
    this.#settle();
  }

  destroy(): void {
    this.#break(undefined);
  }

  /** Reads it to its end for the sake of the connection, and breaks it off when that is far. Never rejects. */
  async dump(limit = worthReading): Promise<void> {
    let left = limit;
    try {
      for await (const piece of this) {
        left -= piece.length;
        if (left < 0) break;
      }
    } catch {
      // Nobody wanted it.
    }
  }

  /** Leaving it early breaks it off. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, void> {
    try {
      yield* this.pieces();
    } finally {
      this.destroy();
    }
  }

  /** Leaving it early leaves the rest to whoever reads on. */
  async *pieces(): AsyncGenerator<Buffer, void, void> {
    for (;;) {
      while (this.#state === 'coming' && this.#unread.length === 0) await this.#more();
      if (this.#state === 'broken') throw this.#error;
      const piece = this.#shift();
      this.#settle();
      if (piece === undefined) return;
      yield piece;
    }
  }

  /** @internal by whoever receives it */
  take(piece: Buffer): void {
    if (this.#state !== 'coming') return;
    if (this.#sink !== undefined && !this.#paused) {
      this.#sink.take(piece);
      return;
    }
    this.#unread.push(piece);
    this.#unreadBytes += piece.length;
    if (this.#unreadBytes >= this.#room) this.#sender.pause();
    this.#wake?.();
  }

  /** @internal by whoever receives it */
  end(): void {
    if (this.#state !== 'coming') return;
    this.#state = 'whole';
    this.#wake?.();
    this.#settle();
  }

  /** @internal by whoever receives it: it has broken off, and what nobody has read is lost */
  fail(error: unknown): void {
    if (this.#state !== 'coming') return;
    this.#break(error);
    this.#sink?.fail(error);
  }

  #break(error: unknown): void {
    const wasComing = this.#state === 'coming';
    if (this.#closed) return;
    this.#state = 'broken';
    this.#error = error ?? new Error('the body was left');
    this.#forget();
    if (wasComing) this.#sender.abort(this.#error as Error);
    this.#wake?.();
    this.#close(error);
  }

  #more(): Promise<void> {
    if (this.#sender.paused) this.#sender.resume();
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }

  #shift(): Buffer | undefined {
    const piece = this.#unread.shift();
    if (piece !== undefined) this.#unreadBytes -= piece.length;
    if (this.#unread.length === 0 && this.#sender.paused) this.#sender.resume();
    return piece;
  }

  /** Tells of the end once all before it is taken. */
  #settle(): void {
    if (this.#state !== 'whole' || this.#unread.length > 0 || this.#closed) return;
    if (this.#sink !== undefined && this.#paused) return;
    this.#close();
    this.#sink?.end();
  }

  #forget(): void {
    this.#unread = [];
    this.#unreadBytes = 0;
  }

  #close(error?: unknown): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const listener of this.#onClose) listener(error);
    this.#onClose = [];
  }
}
