import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Alarm, Timers } from '../lib/timers.ts';
import { highWater, lowWater, pingEvery, pingsUnanswered, unreadLimit } from './limits.ts';

export interface PeerEvents {
  /** A frame. While a promise is pending, later frames wait and the socket is held back. */
  frame(data: Buffer, binary: boolean): void | Promise<void>;
  /** The socket is closed, and every frame before it was handled. */
  closed(code: number, reason: string): void;
  /** It takes no more for now (true), or takes more again (false). */
  behind(behind: boolean): void;
  /** Handling a frame failed. */
  failed(error: unknown): void;
  /**
   * It has taken nothing of what waits for it for long: a close goes out without waiting for that. Only who has this
   * is not read while it does not read.
   */
  stalled?(): void;
}

/** Why a socket is held back: the other side cannot keep up, a frame of its own is still handled, it does not read. */
type Hold = 'other side' | 'handling' | 'unread';

/**
 * One end of a relay. It handles frames one after another, stops reading when asked to or when what it sends is not
 * read, tells when it is behind, pings, and closes only after what was sent has gone out.
 */
export class Peer {
  /** Aborted as soon as the socket is gone, while frames before that may still wait. */
  readonly gone: AbortSignal;
  readonly #socket: WebSocket;
  readonly #on: PeerEvents;
  /** What the frames are written to, where that is known. */
  readonly #stream: Duplex | undefined;
  #corked = false;
  readonly #holds = new Set<Hold>();
  readonly #waiting: { data: Buffer; binary: boolean }[] = [];
  readonly #heart: Alarm;
  #handling = false;
  #behind = false;
  /** Pings, or moments for one, since the last sign of life. */
  #unanswered = 0;
  #stalled = false;
  #closeFrame: { code: number; reason: string } | undefined;
  #end: { code: number; reason: string } | undefined;
  #endReported = false;

  /** `stream`: the connection under the socket, to send frames that come together in one piece. */
  constructor(socket: WebSocket, timers: Timers, on: PeerEvents, stream?: Duplex) {
    this.#socket = socket;
    this.#on = on;
    this.#stream = stream;
    const gone = new AbortController();
    this.gone = gone.signal;
    this.#heart = timers.alarm(pingEvery, () => this.#beat());
    socket.on('message', (data: Buffer, binary: boolean) => this.#take(data, binary));
    socket.on('pong', () => {
      this.#unanswered = 0;
    });
    // A close follows every error.
    socket.on('error', () => {});
    socket.on('close', (code: number, reason: Buffer) => {
      this.#heart.cancel();
      this.#end = { code, reason: reason.toString('utf8') };
      gone.abort();
      if (!this.#handling) this.#tellEnd();
    });
    socket.resume();
  }

  /** Whether frames can still be sent. */
  get open(): boolean {
    return this.#closeFrame === undefined && this.#end === undefined;
  }

  /** Whether more is waiting to go out than is good. */
  get behind(): boolean {
    return this.#behind;
  }

  send(data: Buffer | string, binary: boolean): void {
    if (!this.open) return;
    this.#cork();
    this.#socket.send(data, { binary }, this.#sent);
    const waiting = this.#socket.bufferedAmount;
    if (!this.#behind && waiting > highWater) {
      this.#behind = true;
      this.#on.behind(true);
    }
    if (waiting > unreadLimit && this.#on.stalled !== undefined) this.#hold('unread', true);
  }

  /** Frames of one tick leave in one write: a write a frame would be most of the relay's work. */
  #cork(): void {
    const stream = this.#stream;
    if (stream === undefined || this.#corked) return;
    this.#corked = true;
    stream.cork();
    process.nextTick(() => {
      this.#corked = false;
      stream.uncork();
    });
  }

  /** Does a task before any further frame is handled. */
  occupy(task: () => Promise<void>): void {
    this.#handling = true;
    void this.#finish(task());
  }

  /** Stops reading from the socket, or goes on. */
  hold(held: boolean): void {
    this.#hold('other side', held);
  }

  /** Closes with a code when everything sent before has gone out; at once when nothing goes out any more. */
  close(code: number, reason = ''): void {
    if (!this.open) return;
    this.#closeFrame = { code, reason };
    // The other end's close frame must be read, however far behind it is.
    this.#holds.clear();
    this.#socket.resume();
    if (this.#stalled || this.#socket.bufferedAmount === 0) this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  readonly #sent = (error?: Error | null): void => {
    if (error) return;
    // Only a full line that moves on shows that somebody reads; an empty one takes frames for a dead peer too.
    if (this.#behind) this.#unanswered = 0;
    this.#caughtUp();
  };

  #caughtUp(): void {
    const left = this.#socket.bufferedAmount;
    if (this.#closeFrame !== undefined) {
      if (left === 0) this.#socket.close(this.#closeFrame.code, this.#closeFrame.reason);
    } else if (this.#behind && left <= lowWater) {
      this.#behind = false;
      this.#hold('unread', false);
      this.#on.behind(false);
    }
  }

  #hold(why: Hold, held: boolean): void {
    if (!this.open || this.#holds.has(why) === held) return;
    if (held) this.#holds.add(why);
    else this.#holds.delete(why);
    if (this.#holds.size > 0) {
      this.#socket.pause();
      return;
    }
    // While it was held, no sign of life could be seen.
    this.#unanswered = 0;
    this.#socket.resume();
  }

  #take(data: Buffer, binary: boolean): void {
    this.#unanswered = 0;
    if (this.#handling) {
      this.#waiting.push({ data, binary });
      this.#hold('handling', true);
      return;
    }
    const handled = this.#handle(data, binary);
    if (handled === undefined) return;
    this.#handling = true;
    void this.#finish(handled);
  }

  /** Never rejects. Undefined when the frame was handled at once, as most are. */
  #handle(data: Buffer, binary: boolean): Promise<void> | undefined {
    try {
      const handled = this.#on.frame(data, binary);
      return handled === undefined ? undefined : handled.catch((error) => this.#on.failed(error));
    } catch (error) {
      this.#on.failed(error);
      return undefined;
    }
  }

  async #finish(task: Promise<void>): Promise<void> {
    await task.catch((error: unknown) => this.#on.failed(error));
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await this.#handle(next.data, next.binary);
    }
    this.#handling = false;
    this.#hold('handling', false);
    this.#tellEnd();
  }

  #tellEnd(): void {
    if (this.#end === undefined || this.#endReported) return;
    this.#endReported = true;
    this.#on.closed(this.#end.code, this.#end.reason);
  }

  #beat(): void {
    const unread = this.#holds.has('unread');
    // A socket that is not read shows no sign of life, whatever the other end does, except that it takes what waits.
    if (unread || !this.#socket.isPaused) {
      if (this.#unanswered >= pingsUnanswered) {
        this.#giveUp();
        return;
      }
      this.#unanswered += 1;
      if (!unread) this.#socket.ping(undefined, undefined, () => this.#caughtUp());
    }
    this.#heart.refresh();
  }

  /** A full line shows that somebody does not read; on an empty one nobody is there. */
  #giveUp(): void {
    if (!this.#behind || !this.open || this.#on.stalled === undefined) {
      this.terminate();
      return;
    }
    this.#stalled = true;
    this.#on.stalled();
  }
}
