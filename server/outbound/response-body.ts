import type { Dispatcher } from 'undici';

/** Receives the chunks of a body, then either `end` or `fail`. */
export interface ChunkSink {
  write(chunk: Buffer): void;
  end(): void;
  fail(error: unknown): void;
}

export interface ChunkSource {
  /** Writes all chunks to a sink. May be called once. */
  pipe(sink: ChunkSink): void;
  pause(): void;
  resume(): void;
  /** Aborts the body. Nothing more is written. */
  destroy(): void;
}

/** Unread bytes at which the sender pauses. */
const defaultHighWaterMark = 64 * 1024;
/** Bytes that `dump` reads to keep the connection open. */
const maxDumpBytes = 128 * 1024;

/** Body of an HTTP response. It is faster than a Node.js stream for complete bodies and for many small chunks. */
export class ResponseBody implements ChunkSource, AsyncIterable<Buffer> {
  readonly #sender: Pick<Dispatcher.DispatchController, 'pause' | 'resume' | 'abort' | 'paused'>;
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #highWaterMark = defaultHighWaterMark;
  #state: 'receiving' | 'complete' | 'failed' = 'receiving';
  #error: unknown;
  #sink: ChunkSink | undefined;
  #paused = false;
  /** Called on a chunk, the end or an error. */
  #notify: (() => void) | undefined;
  #closeListeners: ((error?: unknown) => void)[] = [];
  #closed = false;

  constructor(sender: Pick<Dispatcher.DispatchController, 'pause' | 'resume' | 'abort' | 'paused'>) {
    this.#sender = sender;
  }

  /** Calls the listener once when the body is read, aborted or failed. Only a failure passes an error. */
  onClose(listener: (error?: unknown) => void): void {
    if (this.#closed) listener(this.#state === 'failed' ? this.#error : undefined);
    else this.#closeListeners.push(listener);
  }

  /** Reads the whole body. Undefined if it is larger than `limit` bytes: then nothing has been read. */
  async readAll(limit: number): Promise<Buffer | undefined> {
    this.#highWaterMark = Math.max(defaultHighWaterMark, limit + 1);
    while (this.#state === 'receiving' && this.#unreadBytes <= limit) await this.#nextEvent();
    this.#highWaterMark = defaultHighWaterMark;
    if (this.#state === 'failed') throw this.#error;
    if (this.#unreadBytes > limit) return undefined;
    const [first] = this.#unread;
    const bytes = first !== undefined && this.#unread.length === 1 ? first : Buffer.concat(this.#unread);
    this.#discard();
    this.#close();
    return bytes;
  }

  pipe(sink: ChunkSink): void {
    this.#sink = sink;
    if (this.#state === 'failed') sink.fail(this.#error);
    // An empty body closes before it is read.
    else if (this.#closed) sink.end();
    else this.resume();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    while (this.#sink !== undefined && !this.#paused) {
      const chunk = this.#shift();
      if (chunk === undefined) break;
      this.#sink.write(chunk);
    }
    this.#endIfRead();
  }

  destroy(): void {
    this.#abort(undefined);
  }

  /** Reads and discards the body to keep the connection open. Aborts it after `limit` bytes. Never rejects. */
  async dump(limit = maxDumpBytes): Promise<void> {
    let remaining = limit;
    try {
      for await (const chunk of this) {
        remaining -= chunk.length;
        if (remaining < 0) break;
      }
    } catch {
      // The body is not used.
    }
  }

  /** Aborts the body when the loop ends early. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, void> {
    try {
      yield* this.chunks();
    } finally {
      this.destroy();
    }
  }

  /** Keeps the body open when the loop ends early. */
  async *chunks(): AsyncGenerator<Buffer, void, void> {
    for (;;) {
      while (this.#state === 'receiving' && this.#unread.length === 0) await this.#nextEvent();
      if (this.#state === 'failed') throw this.#error;
      const chunk = this.#shift();
      this.#endIfRead();
      if (chunk === undefined) return;
      yield chunk;
    }
  }

  /** @internal called by the sender */
  write(chunk: Buffer): void {
    if (this.#state !== 'receiving') return;
    if (this.#sink !== undefined && !this.#paused) {
      this.#sink.write(chunk);
      return;
    }
    this.#unread.push(chunk);
    this.#unreadBytes += chunk.length;
    if (this.#unreadBytes >= this.#highWaterMark) this.#sender.pause();
    this.#notify?.();
  }

  /** @internal called by the sender */
  end(): void {
    if (this.#state !== 'receiving') return;
    this.#state = 'complete';
    this.#notify?.();
    this.#endIfRead();
  }

  /** @internal called by the sender: discards unread chunks */
  fail(error: unknown): void {
    if (this.#state !== 'receiving') return;
    this.#abort(error);
    this.#sink?.fail(error);
  }

  #abort(error: unknown): void {
    const wasReceiving = this.#state === 'receiving';
    if (this.#closed) return;
    this.#state = 'failed';
    this.#error = error ?? new Error('the body was aborted');
    this.#discard();
    if (wasReceiving) this.#sender.abort(this.#error as Error);
    this.#notify?.();
    this.#close(error);
  }

  #nextEvent(): Promise<void> {
    if (this.#sender.paused) this.#sender.resume();
    return new Promise((resolve) => {
      this.#notify = () => {
        this.#notify = undefined;
        resolve();
      };
    });
  }

  #shift(): Buffer | undefined {
    const chunk = this.#unread.shift();
    if (chunk !== undefined) this.#unreadBytes -= chunk.length;
    if (this.#unread.length === 0 && this.#sender.paused) this.#sender.resume();
    return chunk;
  }

  #endIfRead(): void {
    if (this.#state !== 'complete' || this.#unread.length > 0 || this.#closed) return;
    if (this.#sink !== undefined && this.#paused) return;
    this.#close();
    this.#sink?.end();
  }

  #discard(): void {
    this.#unread = [];
    this.#unreadBytes = 0;
  }

  #close(error?: unknown): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const listener of this.#closeListeners) listener(error);
    this.#closeListeners = [];
  }
}
