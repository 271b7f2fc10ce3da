import { SocketClosedError, TimeoutError, UnigateError } from '../errors.ts';
import { abortError } from '../retry.ts';
import { defaultTimeout, type SocketOptions } from './open-socket.ts';
import { ResponseTimer } from './response-timer.ts';
import type { Socket } from './socket.ts';

interface EventSocketListener {
  /** A parsed text frame. `size` is its length. */
  event(event: unknown, size: number): void;
  bytes(bytes: Uint8Array): void;
  /** The socket ended without `close`. Called once. */
  failed(error: Error): void;
}

/** A socket of JSON events with a response timeout and a single final error. */
export class EventSocket {
  readonly requestId: string | undefined;
  /** Whether reading can be paused. */
  readonly canPause: boolean;
  readonly #socket: Socket;
  readonly #timer: ResponseTimer;
  readonly #signal: AbortSignal | undefined;
  readonly #pausedBy = new Set<object>();
  #listener: EventSocketListener | undefined;
  #error: Error | undefined;
  #closed = false;

  constructor(socket: Socket, { signal, timeout = defaultTimeout }: SocketOptions) {
    this.#socket = socket;
    this.#signal = signal;
    this.requestId = socket.requestId;
    this.canPause = socket.pause !== undefined;
    this.#timer = new ResponseTimer(timeout, () =>
      this.fail(new TimeoutError(`The gateway sent nothing for ${timeout} ms.`)),
    );
  }

  listen(listener: EventSocketListener): void {
    this.#listener = listener;
    this.#signal?.addEventListener('abort', this.#stop, { once: true });
    this.#socket.listen({
      frame: (data) => {
        if (!this.#closed) this.#receive(data, listener);
      },
      closed: (code, reason) => this.fail(new SocketClosedError(code, reason)),
    });
    if (this.#signal?.aborted) this.#stop();
  }

  /** Sends an event. The caller may ignore a rejection, because `failed` receives the error too. */
  send(event: object): Promise<void> {
    const sent = this.#closed
      ? Promise.reject(this.#error ?? new UnigateError('The socket is closed.'))
      : this.#socket.send(JSON.stringify(event)).catch((cause: unknown) => {
          throw this.#error ?? cause;
        });
    sent.catch(() => {});
    return sent;
  }

  /** Starts the response timeout. Call `responseReceived` when the response arrives. */
  expectResponse(): void {
    if (!this.#closed) this.#timer.expect();
  }

  responseReceived(): void {
    if (!this.#closed) this.#timer.received();
  }

  /** Pauses reading for a reader. Resumes when no reader needs the pause. */
  setPaused(reader: object, paused: boolean): void {
    const wasPaused = this.#pausedBy.size > 0;
    if (paused) this.#pausedBy.add(reader);
    else this.#pausedBy.delete(reader);
    const isPaused = this.#pausedBy.size > 0;
    if (isPaused === wasPaused || this.#closed) return;
    this.#timer.suspend(isPaused);
    if (isPaused) this.#socket.pause?.();
    else this.#socket.resume?.();
  }

  /** Closes the socket with an error. No effect after its end. */
  fail(error: Error): void {
    if (this.#closed) return;
    this.#error = error;
    this.close();
    this.#listener?.failed(error);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer.end();
    this.#signal?.removeEventListener('abort', this.#stop);
    this.#socket.close();
  }

  readonly #stop = () => {
    if (this.#signal) this.fail(abortError(this.#signal));
  };

  #receive(data: string | Uint8Array, listener: EventSocketListener): void {
    this.#timer.restart();
    if (typeof data !== 'string') return listener.bytes(data);
    let event: unknown;
    try {
      event = JSON.parse(data);
    } catch (cause) {
      return this.fail(new UnigateError('A frame of the gateway is not JSON.', { cause }));
    }
    if (typeof event === 'object' && event !== null) return listener.event(event, data.length);
    this.fail(new UnigateError('A frame of the gateway is not an event.'));
  }
}
