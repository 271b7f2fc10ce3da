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
import { type SpeechText, speakText } from '../sockets/speak-text.ts';
import { SessionUsage } from './session-usage.ts';

type WithoutId<Event> = Event extends unknown ? Omit<Event, 'event_id'> : never;

interface PendingUpdate {
  id: string;
  resolve(session: RealtimeSessionFacts): void;
  reject(error: Error): void;
}

/**
 * A realtime session on its own socket. The audio loop throws an `error` event that belongs to no call. The session may
 * continue after it, and another loop can continue to read. After the session failed, `close`, a pending `update` and the loops
 * throw its error.
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
  /** The gateway's id of the handshake. Undefined in browsers. */
  readonly requestId: string | undefined;
  /** The events of the session. One loop at a time can read them. */
  readonly events: AsyncIterable<RealtimeServerEvent>;
  readonly #socket: EventSocket;
  readonly #buffers: ReceiveBuffers<RealtimeServerEvent>;
  readonly #usage = new SessionUsage();
  readonly #updates: PendingUpdate[] = [];
  readonly #ended: Promise<void>;
  #end: (error?: Error) => void = () => {};
  #finished: Promise<void> | undefined;
  /** The last event if it was an error, which explains a following close. */
  #lastError: RealtimeError | undefined;

  constructor(socket: EventSocket) {
    this.#socket = socket;
    this.requestId = socket.requestId;
    this.#ended = new Promise((resolve, reject) => {
      this.#end = (error) => (error ? reject(error) : resolve());
    });
    this.#ended.catch(() => {});
    this.#buffers = new ReceiveBuffers<RealtimeServerEvent>({
      canPause: socket.canPause,
      setPaused: (paused) => socket.setPaused(this, paused),
      overflow: () => socket.fail(new UnigateError('The audio arrives faster than it is read.')),
    });
    this.events = this.#buffers.events;
    socket.listen({
      event: (event, size) => this.#receive(event as RealtimeServerEvent, size),
      bytes: () => socket.fail(new UnigateError('The gateway sent a binary frame.')),
      failed: (error) => this.#handleFailure(error),
    });
  }

  /** The usage billed so far. Undefined until the first report. */
  get usage(): RealtimeUsage | undefined {
    return this.#usage.usage;
  }

  /**
   * Sets voice and audio format, before any text. Returns the session that the gateway confirms. Throws RealtimeError if the
   * gateway rejects the options, TimeoutError if it does not respond.
   */
  update(session: RealtimeSessionOptions): Promise<RealtimeSessionFacts> {
    const id = this.#nextId();
    const confirmed = new Promise<RealtimeSessionFacts>((resolve, reject) => {
      this.#updates.push({ id, resolve, reject });
    });
    this.#socket.expectResponse();
    this.#socket.send({ event_id: id, type: 'session.update', session }).catch((error: Error) => {
      this.#removeUpdate(id)?.reject(error);
    });
    return confirmed;
  }

  /** Adds text after `update` is confirmed. Resolves when more can be sent. Awaiting it is optional. */
  append(text: string): Promise<void> {
    return this.#send({ type: 'input_text_buffer.append', text });
  }

  /** Speaks the buffered text. */
  commit(): Promise<void> {
    return this.#send({ type: 'input_text_buffer.commit' });
  }

  /** Discards the buffered text. */
  clear(): Promise<void> {
    return this.#send({ type: 'input_text_buffer.clear' });
  }

  /** Cancels the current response. */
  cancel(): Promise<void> {
    return this.#send({ type: 'response.cancel' });
  }

  /** Ends the text. The gateway speaks the rest, then `audio` and `events` end. */
  finish(): Promise<void> {
    if (!this.#finished) {
      this.#finished = this.#send({ type: 'session.finish' });
      this.#socket.expectResponse();
    }
    return this.#finished;
  }

  /** The decoded audio of all responses in order. One loop at a time can read it. */
  audio(): AsyncIterable<Uint8Array> {
    return this.#buffers.audio;
  }

  /**
   * Finishes the session if needed, waits for its end and returns the final usage, or undefined if nothing was spoken.
   * Discards audio that no loop is reading.
   */
  async close(): Promise<RealtimeUsage | undefined> {
    void this.finish();
    this.#buffers.awaitEnd();
    await this.#ended;
    return this.usage;
  }

  /**
   * Speaks one text, complete or in parts, and ends the session. Yields the audio and returns the usage. Leaving the loop
   * early closes the socket.
   */
  async *speak(
    text: SpeechText,
    session: RealtimeSessionOptions,
  ): AsyncGenerator<Uint8Array, RealtimeUsage | undefined> {
    const abort = (error: unknown) =>
      this.#socket.fail(error instanceof Error ? error : new UnigateError('The session was aborted.'));
    try {
      await this.update(session);
    } catch (error) {
      abort(error);
      throw error;
    }
    return yield* speakText(text, {
      send: (part) => this.append(part),
      finish: () => this.finish(),
      audio: this.audio(),
      close: () => this.close(),
      abort,
    });
  }

  #send(event: WithoutId<RealtimeClientEvent>): Promise<void> {
    if (this.#finished) throw new UnigateError(`${event.type}: the session is finishing.`);
    return this.#socket.send({ event_id: this.#nextId(), ...event });
  }

  #nextId(): string {
    return `event_${newId()}`;
  }

  #receive(event: RealtimeServerEvent, size: number): void {
    this.#buffers.pushEvent(event, size);
    this.#lastError = undefined;
    switch (event.type) {
      case 'session.updated':
        return this.#removeUpdate(this.#updates[0]?.id)?.resolve(event.session);
      case 'response.audio.delta':
        return this.#buffers.pushAudio(decodeBase64(event.delta));
      case 'response.done':
        return this.#usage.add(event);
      case 'error':
        return this.#handleError(new RealtimeError(event.error, this.requestId));
      case 'session.finished':
        this.#socket.close();
        return this.#endSession();
      default:
      // Other events need no handling.
    }
  }

  #handleError(error: RealtimeError): void {
    this.#lastError = error;
    // A provider may omit the id of the event.
    const pending = this.#removeUpdate(error.eventId ?? this.#updates[0]?.id);
    if (pending) pending.reject(error);
    else this.#buffers.audio.pushError(error);
  }

  #removeUpdate(id: string | undefined): PendingUpdate | undefined {
    const at = this.#updates.findIndex((update) => update.id === id);
    if (at < 0) return undefined;
    this.#socket.responseReceived();
    return this.#updates.splice(at, 1)[0];
  }

  #handleFailure(error: Error): void {
    const cause =
      error instanceof SocketClosedError && error.closeCode !== 1000 ? this.#lastError : undefined;
    this.#endSession(cause ?? error);
  }

  #endSession(cause?: Error): void {
    this.#finished ??= Promise.resolve();
    for (const { reject } of this.#updates.splice(0))
      reject(cause ?? new UnigateError('The session has finished.'));
    this.#buffers.end(cause);
    this.#end(cause);
  }
}
