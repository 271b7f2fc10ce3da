import { Inbox } from './inbox.ts';

/** Bytes that may wait for a reader before the socket is held back. */
const maxBuffered = 1024 * 1024;
/** The same for a socket that cannot be held back, and while the end is awaited. */
const maxBufferedAtEnd = 64 * 1024 * 1024;

/** How the buffers hold their socket back. */
interface FlowControl {
  /** Whether the socket can be held back at all. */
  readonly holdable: boolean;
  hold(held: boolean): void;
  /** The readers are too far behind. */
  overflow(): void;
}

/**
 * The two ways to read a conversation: its events and its audio. Either is kept for a reader that comes late, as long
 * as there is room; what only the other's readers leave unread never holds the socket back.
 */
export class ReceiveBuffers<Event> {
  readonly events: Inbox<Event>;
  readonly audio: Inbox<Uint8Array>;
  readonly #flow: FlowControl;
  #held = false;
  #ending = false;
  #ended = false;

  constructor(flow: FlowControl) {
    this.#flow = flow;
    this.events = new Inbox('events', () => this.#settle());
    this.audio = new Inbox('audio', () => this.#settle());
  }

  /** `size` is in bytes. */
  pushEvent(event: Event, size: number): void {
    this.events.push(event, size);
    this.#settle();
  }

  pushAudio(bytes: Uint8Array): void {
    if (bytes.byteLength === 0) return;
    this.audio.push(bytes, bytes.byteLength);
    this.#settle();
  }

  /** Drops what nobody is reading, so that the end arrives. */
  awaitEnd(): void {
    this.#ending = true;
    for (const inbox of [this.events, this.audio]) if (!inbox.reading) inbox.drop();
    this.#settle();
  }

  end(error?: Error): void {
    this.#ended = true;
    this.events.end(error);
    this.audio.end(error);
    this.#hold(false);
  }

  #settle(): void {
    const { events, audio } = this;
    if (events.size > maxBuffered && !events.claimed && audio.claimed) events.lose();
    if (audio.size > maxBuffered && !audio.claimed && events.claimed) audio.lose();
    // A loop that is left while the end is awaited has no successor.
    if (this.#ending && events.claimed && !events.reading) events.drop();
    if (this.#ending && audio.claimed && !audio.reading) audio.drop();
    // What has ended may stay unread: on the same socket others go on.
    if (this.#ended) return;
    const buffered = Math.max(events.size, audio.size);
    if (this.#flow.holdable) this.#hold(buffered > (this.#ending ? maxBufferedAtEnd : maxBuffered));
    else if (buffered > maxBufferedAtEnd) this.#flow.overflow();
  }

  #hold(held: boolean): void {
    if (this.#held === held) return;
    this.#held = held;
    this.#flow.hold(held);
  }
}
