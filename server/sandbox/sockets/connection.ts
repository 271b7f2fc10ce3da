import type { RawData, WebSocket } from 'ws';
import type { Services } from '../http/exchange.ts';

/** Maximum number of buffered bytes before synthesis pauses. */
const maxBufferedBytes = 256 * 1024;

/** An accepted WebSocket. Frames are sent in the order of the calls. */
export class Connection {
  readonly #socket: WebSocket;
  readonly #closed = new AbortController();
  #waiters: (() => void)[] = [];
  #isSilenced = false;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.once('close', () => this.#abort());
    // The library closes the socket with the correct code. Without a listener, the error would end the process.
    socket.on('error', () => {});
  }

  /** Aborts when nothing more can be sent, because the client disconnected or `close` was called. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  /** Registers a listener for the client's frames until the socket closes. `text` is undefined for a binary frame. */
  onFrame(listener: (text: string | undefined) => void): void {
    this.#socket.on('message', (data: RawData, binary: boolean) => {
      if (this.isOpen) listener(binary ? undefined : (data as Buffer).toString());
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** Sends a text frame, or a binary frame for bytes. Does nothing on a closing or silenced socket. */
  send(data: string | Buffer): void {
    if (!this.isOpen || this.#isSilenced) return;
    this.#socket.send(data, () => this.#resumeWaiters());
  }

  /** Resolves when the send buffer is within `limit` bytes. Rejects if the socket closes. */
  async waitUntilWritable(limit = maxBufferedBytes): Promise<void> {
    while (this.#socket.bufferedAmount > limit && !this.signal.aborted) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
    this.signal.throwIfAborted();
  }

  /** Closes the socket after the sent frames. */
  close(code: number, reason = ''): void {
    if (this.#isSilenced) return;
    this.#socket.close(code, reason);
    this.#abort();
  }

  /** Discards all frames from now on. */
  silence(): void {
    this.#isSilenced = true;
  }

  /** Terminates the connection after the sent frames have been flushed. */
  async drop(): Promise<void> {
    await this.waitUntilWritable(0);
    this.#socket.terminate();
  }

  #abort(): void {
    this.#closed.abort(new Error('The socket is closed'));
    this.#resumeWaiters();
  }

  #resumeWaiters(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resume of waiters) resume();
  }
}

/** Context of one accepted socket for its protocol. */
export interface SocketContext {
  connection: Connection;
  services: Services;
  /** Query parameters of the handshake. */
  query: URLSearchParams;
  /** Logs an internal error of the sandbox. */
  report: (error: unknown) => void;
}

/** Runs a callback if `restart` is not called for the given time. */
export class RestartableTimeout {
  readonly #milliseconds: number;
  readonly #expire: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(milliseconds: number, expire: () => void) {
    this.#milliseconds = milliseconds;
    this.#expire = expire;
  }

  restart(): void {
    this.stop();
    this.#timer = setTimeout(this.#expire, this.#milliseconds).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
