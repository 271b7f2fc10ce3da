import type {
  RealtimeClientEvent,
  RealtimeServerEvent,
  RealtimeSession as RealtimeSessionFacts,
  RealtimeSessionOptions,
  RealtimeUsage,
} from '../../generated/events.ts';
import { decodeBase64 } from '../base64.ts';
import { RealtimeError, SocketClosedError, UnigateError } from '../errors.ts';
import type { EventSocket } from '../sockets/event-socket.ts';
import { newId } from '../sockets/new-id.ts';
import { ReceiveBuffers } from '../sockets/receive-buffers.ts';
import { type SpokenText, speakThrough } from '../sockets/speak-through.ts';
import { SessionBill } from './session-bill.ts';

type WithoutId<Event> = Event extends unknown ? Omit<Event, 'event_id'> : never;

interface PendingUpdate {
  id: string;
  resolve(session: RealtimeSessionFacts): void;
  reject(error: Error): void;
}

/**
 * One realtime session on its own socket. An `error` event that no call waits for is thrown by the audio loop; the
 * session may go on after it, and so may another loop. Once the session is over, everything throws why.
 *
 * @example
 * const session = await client.realtime('alpha3-tts-flash-realtime');
 * await session.update({ voice: 'Aria' });
 * session.append('Good morning.');
 * session.finish();
 * for await (const pcm of session.audio()) play(pcm);
 * const usage = await session.close();
 */
export class RealtimeSession {
  /** The gateway's id of the handshake; unknown in a browser. */
  readonly requestId: string | undefined;
  /** The events as they come; one loop at a time. */
  readonly events: AsyncIterable<RealtimeServerEvent>;
  readonly #socket: EventSocket;
  readonly #buffers: ReceiveBuffers<RealtimeServerEvent>;
  readonly #bill = new SessionBill();
  readonly #updates: PendingUpdate[] = [];
  readonly #ended: Promise<void>;
  #end: (error?: Error) => void = () => {};
  #finished: Promise<void> | undefined;
  /** The error event that came last, if nothing came after it: it explains the close. */
  #lastError: RealtimeError | undefined;

  constructor(socket: EventSocket) {
    this.#socket = socket;
    this.requestId = socket.requestId;
    this.#ended = new Promise((resolve, reject) => {
      this.#end = (error) => (error ? reject(error) : resolve());
    });
    this.#ended.catch(() => {});
    this.#buffers = new ReceiveBuffers<RealtimeServerEvent>({
      holdable: socket.holdable,
      hold: (held) => socket.hold(this, held),
      overflow: () => socket.fail(new UnigateError('The audio comes faster than it is read.')),
    });
    this.events = this.#buffers.events;
    socket.listen({
      event: (event, size) => this.#take(event as RealtimeServerEvent, size),
      bytes: () => socket.fail(new UnigateError('The gateway sent a binary frame.')),
      broken: (error) => this.#break(error),
    });
  }

  /** What was billed so far; undefined as long as nothing was reported. */
  get usage(): RealtimeUsage | undefined {
    return this.#bill.usage;
  }

  /**
   * Sets voice and form of the audio, before any text. Gives the session as the gateway confirms it. Throws
   * RealtimeError when it refuses, TimeoutError when it does not answer.
   */
  update(session: RealtimeSessionOptions): Promise<RealtimeSessionFacts> {
    const id = this.#nextId();
    const confirmed = new Promise<RealtimeSessionFacts>((resolve, reject) => {
      this.#updates.push({ id, resolve, reject });
    });
    this.#socket.owe();
    this.#socket.send({ event_id: id, type: 'session.update', session }).catch((error: Error) => {
      this.#takeUpdate(id)?.reject(error);
    });
    return confirmed;
  }

  /** Adds text, once `update` is confirmed. Resolves when there is room for more; it need not be awaited. */
  append(text: string): Promise<void> {
    return this.#send({ type: 'input_text_buffer.append', text });
  }

  /** Speaks the text that waits. */
  commit(): Promise<void> {
    return this.#send({ type: 'input_text_buffer.commit' });
  }

  /** Drops the text that waits. */
  clear(): Promise<void> {
    return this.#send({ type: 'input_text_buffer.clear' });
  }

  /** Ends the response that is being spoken. */
  cancel(): Promise<void> {
    return this.#send({ type: 'response.cancel' });
  }

  /** No more text: the rest is spoken, then `audio` and `events` end. */
  finish(): Promise<void> {
    if (!this.#finished) {
      this.#finished = this.#send({ type: 'session.finish' });
      this.#socket.owe();
    }
    return this.#finished;
  }

  /** The audio of all responses in order, decoded, to the end of the session; one loop at a time. */
  audio(): AsyncIterable<Uint8Array> {
    return this.#buffers.audio;
  }

  /**
   * Finishes the session unless that is done, waits for its end and gives the final usage; undefined when nothing
   * was spoken. Audio that no loop is reading by then is dropped.
   */
  async close(): Promise<RealtimeUsage | undefined> {
    void this.finish();
    this.#buffers.awaitEnd();
    await this.#ended;
    return this.usage;
  }

  /**
   * Speaks one text, which may still be coming, and ends the session. Yields the audio and returns the usage. Leaving
   * the loop early closes the socket.
   */
  async *speak(
    text: SpokenText,
    session: RealtimeSessionOptions,
  ): AsyncGenerator<Uint8Array, RealtimeUsage | undefined> {
    const leave = (error: unknown) =>
      this.#socket.fail(error instanceof Error ? error : new UnigateError('The session was left.'));
    try {
      await this.update(session);
    } catch (error) {
      leave(error);
      throw error;
    }
    return yield* speakThrough(text, {
      say: (piece) => this.append(piece),
      finish: () => this.finish(),
      audio: this.audio(),
      close: () => this.close(),
      leave,
    });
  }

  #send(event: WithoutId<RealtimeClientEvent>): Promise<void> {
    if (this.#finished) throw new UnigateError(`${event.type}: the session is finishing.`);
    return this.#socket.send({ event_id: this.#nextId(), ...event });
  }

  #nextId(): string {
    return `event_${newId()}`;
  }

  #take(event: RealtimeServerEvent, size: number): void {
    this.#buffers.pushEvent(event, size);
    this.#lastError = undefined;
    switch (event.type) {
      case 'session.updated':
        return this.#takeUpdate(this.#updates[0]?.id)?.resolve(event.session);
      case 'response.audio.delta':
        return this.#buffers.pushAudio(decodeBase64(event.delta));
      case 'response.done':
        return this.#bill.add(event);
      case 'error':
        return this.#refuse(new RealtimeError(event.error, this.requestId));
      case 'session.finished':
        this.#socket.close();
        return this.#conclude();
      default:
      // The others are only passed on.
    }
  }

  #refuse(error: RealtimeError): void {
    this.#lastError = error;
    // A provider may leave out which event it means.
    const pending = this.#takeUpdate(error.eventId ?? this.#updates[0]?.id);
    if (pending) pending.reject(error);
    else this.#buffers.audio.pushError(error);
  }

  #takeUpdate(id: string | undefined): PendingUpdate | undefined {
    const at = this.#updates.findIndex((update) => update.id === id);
    if (at < 0) return undefined;
    this.#socket.settle();
    return this.#updates.splice(at, 1)[0];
  }

  #break(error: Error): void {
    const cause =
      error instanceof SocketClosedError && error.closeCode !== 1000 ? this.#lastError : undefined;
    this.#conclude(cause ?? error);
  }

  #conclude(cause?: Error): void {
    this.#finished ??= Promise.resolve();
    for (const { reject } of this.#updates.splice(0))
      reject(cause ?? new UnigateError('The session has finished.'));
    this.#buffers.end(cause);
    this.#end(cause);
  }
}
