import { ReceiveQueue } from './receive-queue.ts';

/** Maximum number of unread bytes before the socket is paused. */
const maxBufferedBytes = 1024 * 1024;
/** Limit for a socket that cannot be paused, and while waiting for the end. */
const maxBufferedBytesAtEnd = 64 * 1024 * 1024;

/** Flow control of the socket. */
interface FlowControl {
  /** Whether the socket can be paused. */
  readonly canPause: boolean;
  setPaused(paused: boolean): void;
  /** Called when the unread data exceeds the limit. */
  overflow(): void;
}

/**
 * Buffers the events and the audio of a conversation. Each is stored for a late reader up to a limit. Data that no loop
 * reads never pauses the socket while a loop reads the other kind.
 */
export class ReceiveBuffers<Event> {
  readonly events: ReceiveQueue<Event>;
  readonly audio: ReceiveQueue<Uint8Array>;
  readonly #flow: FlowControl;
  #paused = false;
  #ending = false;
  #ended = false;

  constructor(flow: FlowControl) {
    this.#flow = flow;
    this.events = new ReceiveQueue('events', () => this.#update());
    this.audio = new ReceiveQueue('audio', () => this.#update());
  }

  /** `size` is in bytes. */
  pushEvent(event: Event, size: number): void {
    this.events.push(event, size);
    this.#update();
  }

  pushAudio(bytes: Uint8Array): void {
    if (bytes.byteLength === 0) return;
    this.audio.push(bytes, bytes.byteLength);
    this.#update();
  }

  /** Discards the kind that no loop is reading, so that the end can arrive. */
  awaitEnd(): void {
    this.#ending = true;
    for (const queue of [this.events, this.audio]) if (!queue.isReading) queue.discard();
    this.#update();
  }

  end(error?: Error): void {
    this.#ended = true;
    this.events.end(error);
    this.audio.end(error);
    this.#setPaused(false);
  }

  #update(): void {
    const { events, audio } = this;
    if (events.size > maxBufferedBytes && !events.wasRead && audio.wasRead) events.overflow();
    if (audio.size > maxBufferedBytes && !audio.wasRead && events.wasRead) audio.overflow();
    // While waiting for the end, no further loop follows one that stopped.
    if (this.#ending && events.wasRead && !events.isReading) events.discard();
    if (this.#ending && audio.wasRead && !audio.isReading) audio.discard();
    // Unread data of an ended conversation must not pause a socket that others use.
    if (this.#ended) return;
    const buffered = Math.max(events.size, audio.size);
    if (this.#flow.canPause)
      this.#setPaused(buffered > (this.#ending ? maxBufferedBytesAtEnd : maxBufferedBytes));
    else if (buffered > maxBufferedBytesAtEnd) this.#flow.overflow();
  }

  #setPaused(paused: boolean): void {
    if (this.#paused === paused) return;
    this.#paused = paused;
    this.#flow.setPaused(paused);
  }
}
