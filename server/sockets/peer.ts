import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Alarm, Timers } from '../lib/timers.ts';
import {
  highWaterBytes,
  lowWaterBytes,
  maxUnansweredPings,
  maxUnsentBytes,
  pingIntervalMs,
} from './limits.ts';

export interface PeerEvents {
  /** Handles a frame. Later frames are queued while the promise is pending. */
  frame(data: Buffer, binary: boolean): void | Promise<void>;
  /** The socket is closed and every frame before the close was handled. */
  closed(code: number, reason: string): void;
  /** Unsent bytes rose above the high water mark (true) or fell below the low one (false). */
  backpressure(needsDrain: boolean): void;
  /** Handling a frame failed. */
  failed(error: unknown): void;
  /** The peer has stopped reading: a close no longer waits for unsent frames. Without this event it is terminated. */
  tooSlow?(): void;
}

/** Why a peer is paused: the other peer needs to drain, a frame is being handled, or the peer itself does not read. */
type PauseReason = 'backpressure' | 'handling' | 'unsent';

/** One end of a relay. It handles frames in order, applies backpressure, sends pings, and drains before it closes. */
export class Peer {
  /** Aborted when the socket closes. Frames received before that may still be queued. */
  readonly disconnected: AbortSignal;
  readonly #socket: WebSocket;
  readonly #on: PeerEvents;
  readonly #stream: Duplex | undefined;
  #corked = false;
  readonly #pauseReasons = new Set<PauseReason>();
  readonly #queue: { data: Buffer; binary: boolean }[] = [];
  readonly #heartbeat: Alarm;
  #handling = false;
  #needsDrain = false;
  /** Intervals without a sign of life, also those in which no ping could be sent. */
  #unansweredPings = 0;
  #isTooSlow = false;
  #closeFrame: { code: number; reason: string } | undefined;
  #closed: { code: number; reason: string } | undefined;
  #closeReported = false;

  /** `stream`: the connection of the socket. With it, frames of one tick are sent in one write. */
  constructor(socket: WebSocket, timers: Timers, on: PeerEvents, stream?: Duplex) {
    this.#socket = socket;
    this.#on = on;
    this.#stream = stream;
    const disconnected = new AbortController();
    this.disconnected = disconnected.signal;
    this.#heartbeat = timers.alarm(pingIntervalMs, () => this.#checkLiveness());
    socket.on('message', (data: Buffer, binary: boolean) => this.#receive(data, binary));
    socket.on('pong', () => {
      this.#unansweredPings = 0;
    });
    // A close event follows every error.
    socket.on('error', () => {});
    socket.on('close', (code: number, reason: Buffer) => {
      this.#heartbeat.cancel();
      this.#closed = { code, reason: reason.toString('utf8') };
      disconnected.abort();
      if (!this.#handling) this.#reportClose();
    });
    socket.resume();
  }

  /** Whether frames can still be sent. */
  get open(): boolean {
    return this.#closeFrame === undefined && this.#closed === undefined;
  }

  /** Whether unsent bytes are above the high water mark, and have not fallen below the low one since. */
  get needsDrain(): boolean {
    return this.#needsDrain;
  }

  send(data: Buffer | string, binary: boolean): void {
    if (!this.open) return;
    this.#cork();
    this.#socket.send(data, { binary }, this.#sent);
    const unsent = this.#socket.bufferedAmount;
    if (!this.#needsDrain && unsent > highWaterBytes) {
      this.#needsDrain = true;
      this.#on.backpressure(true);
    }
    if (unsent > maxUnsentBytes && this.#on.tooSlow !== undefined) this.#setPause('unsent', true);
  }

  /** Sends the frames of one tick in one write: a write per frame would be most of the relay's CPU time. */
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

  /** Runs a task. Frames are queued until it has finished. */
  runExclusive(task: () => Promise<void>): void {
    this.#handling = true;
    void this.#finish(task());
  }

  /** Pauses or resumes reading from the socket. */
  setPaused(paused: boolean): void {
    this.#setPause('backpressure', paused);
  }

  /** Closes the socket after all earlier frames were sent, or at once if the peer has stopped reading. */
  close(code: number, reason = ''): void {
    if (!this.open) return;
    this.#closeFrame = { code, reason };
    // A paused socket would never read the peer's close frame.
    this.#pauseReasons.clear();
    this.#socket.resume();
    if (this.#isTooSlow || this.#socket.bufferedAmount === 0) this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  readonly #sent = (error?: Error | null): void => {
    if (error) return;
    // Progress of a full buffer proves that the peer reads. The kernel accepts single frames for a dead peer, too.
    if (this.#needsDrain) this.#unansweredPings = 0;
    this.#checkDrained();
  };

  #checkDrained(): void {
    const unsent = this.#socket.bufferedAmount;
    if (this.#closeFrame !== undefined) {
      if (unsent === 0) this.#socket.close(this.#closeFrame.code, this.#closeFrame.reason);
    } else if (this.#needsDrain && unsent <= lowWaterBytes) {
      this.#needsDrain = false;
      this.#setPause('unsent', false);
      this.#on.backpressure(false);
    }
  }

  #setPause(reason: PauseReason, paused: boolean): void {
    if (!this.open || this.#pauseReasons.has(reason) === paused) return;
    if (paused) this.#pauseReasons.add(reason);
    else this.#pauseReasons.delete(reason);
    if (this.#pauseReasons.size > 0) {
      this.#socket.pause();
      return;
    }
    // A paused socket receives no pongs.
    this.#unansweredPings = 0;
    this.#socket.resume();
  }

  #receive(data: Buffer, binary: boolean): void {
    this.#unansweredPings = 0;
    if (this.#handling) {
      this.#queue.push({ data, binary });
      this.#setPause('handling', true);
      return;
    }
    const handled = this.#handle(data, binary);
    if (handled === undefined) return;
    this.#handling = true;
    void this.#finish(handled);
  }

  /** Handles a frame. Returns a promise only if the handler is asynchronous; it never rejects. */
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
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      await this.#handle(next.data, next.binary);
    }
    this.#handling = false;
    this.#setPause('handling', false);
    this.#reportClose();
  }

  #reportClose(): void {
    if (this.#closed === undefined || this.#closeReported) return;
    this.#closeReported = true;
    this.#on.closed(this.#closed.code, this.#closed.reason);
  }

  #checkLiveness(): void {
    const hasUnsent = this.#pauseReasons.has('unsent');
    // A paused socket receives no pongs. Only a peer that does not read counts as unresponsive while paused.
    if (hasUnsent || !this.#socket.isPaused) {
      if (this.#unansweredPings >= maxUnansweredPings) {
        this.#dropUnresponsive();
        return;
      }
      this.#unansweredPings += 1;
      if (!hasUnsent) this.#socket.ping(undefined, undefined, () => this.#checkDrained());
    }
    this.#heartbeat.refresh();
  }

  /** A full buffer means that the peer does not read; with an empty one it is dead. */
  #dropUnresponsive(): void {
    if (!this.#needsDrain || !this.open || this.#on.tooSlow === undefined) {
      this.terminate();
      return;
    }
    this.#isTooSlow = true;
    this.#on.tooSlow();
  }
}
