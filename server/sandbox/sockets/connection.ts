import type { RawData, WebSocket } from 'ws';
import type { Services } from '../http/exchange.ts';

/** Bytes that may wait in the socket before more audio is made. */
const highWater = 256 * 1024;

/** One accepted socket. Frames leave in the order of the calls. */
export class Connection {
  readonly #socket: WebSocket;
  readonly #left = new AbortController();
  #waiting: (() => void)[] = [];
  #silent = false;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.once('close', () => this.#leave());
    // The library closes with the right code by itself; without a listener the error would end the process.
    socket.on('error', () => {});
  }

  /** Aborts when nothing more can be sent: the client has gone, or `close` was called. */
  get signal(): AbortSignal {
    return this.#left.signal;
  }

  /** Calls back for each frame of the client until the socket is closing; `text` is undefined for a binary frame. */
  onFrame(take: (text: string | undefined) => void): void {
    this.#socket.on('message', (data: RawData, binary: boolean) => {
      if (this.open) take(binary ? undefined : (data as Buffer).toString());
    });
  }

  get open(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** Sends a frame: text, or binary for bytes. Without effect on a closing or silenced socket. */
  send(data: string | Buffer): void {
    if (!this.open || this.#silent) return;
    this.#socket.send(data, () => this.#wake());
  }

  /** Resolves when the client has read enough for more to be sent; rejects when it is gone. */
  async writable(limit = highWater): Promise<void> {
    while (this.#socket.bufferedAmount > limit && !this.signal.aborted) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.signal.throwIfAborted();
  }

  /** Closes after what has been sent. */
  close(code: number, reason = ''): void {
    if (this.#silent) return;
    this.#socket.close(code, reason);
    this.#leave();
  }

  /** Sends nothing from now on. */
  silence(): void {
    this.#silent = true;
  }

  /** Breaks the connection, after what has been sent is out. */
  async drop(): Promise<void> {
    await this.writable(0);
    this.#socket.terminate();
  }

  #leave(): void {
    this.#left.abort(new Error('The socket is closed'));
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}

/** What a protocol gets for one accepted socket. */
export interface SocketContext {
  connection: Connection;
  services: Services;
  /** Query of the handshake. */
  query: URLSearchParams;
  /** Reports an error that is the sandbox's own. */
  report: (error: unknown) => void;
}

/** Calls back once after a time without `restart`. */
export class Countdown {
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
