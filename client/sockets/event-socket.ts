import { SocketClosedError, TimeoutError, UnigateError } from '../errors.ts';
import { aborted } from '../retry.ts';
import { defaultTimeout, type SocketOptions } from './open-socket.ts';
import { SilenceTimer } from './silence-timer.ts';
import type { Socket } from './socket.ts';

interface EventSocketListener {
  /** A text frame, parsed; `size` is its length. */
  event(event: unknown, size: number): void;
  bytes(bytes: Uint8Array): void;
  /** The socket has ended without `close`; called once. */
  broken(error: Error): void;
}

/** A socket of JSON events, with a time limit on silence and one error at its end. */
export class EventSocket {
  readonly requestId: string | undefined;
  /** Whether reading can be held back. */
  readonly holdable: boolean;
  readonly #socket: Socket;
  readonly #silence: SilenceTimer;
  readonly #signal: AbortSignal | undefined;
  readonly #holders = new Set<object>();
  #listener: EventSocketListener | undefined;
  #error: Error | undefined;
  #over = false;

  constructor(socket: Socket, { signal, timeout = defaultTimeout }: SocketOptions) {
    this.#socket = socket;
    this.#signal = signal;
    this.requestId = socket.requestId;
    this.holdable = socket.pause !== undefined;
    this.#silence = new SilenceTimer(timeout, () =>
      this.fail(new TimeoutError(`The gateway was silent for ${timeout} ms.`)),
    );
  }

  listen(listener: EventSocketListener): void {
    this.#listener = listener;
    this.#signal?.addEventListener('abort', this.#stop, { once: true });
    this.#socket.listen({
      frame: (data) => {
        if (!this.#over) this.#take(data, listener);
      },
      closed: (code, reason) => this.fail(new SocketClosedError(code, reason)),
    });
    if (this.#signal?.aborted) this.#stop();
  }

  /** Sends an event. A failure need not be caught: `broken` gets it as well. */
  send(event: object): Promise<void> {
    const sent = this.#over
      ? Promise.reject(this.#error ?? new UnigateError('The socket is closed.'))
      : this.#socket.send(JSON.stringify(event)).catch((cause: unknown) => {
          throw this.#error ?? cause;
        });
    sent.catch(() => {});
    return sent;
  }

  /** The gateway owes an answer until `settle`; `timeout` is for its silence. */
  owe(): void {
    if (!this.#over) this.#silence.owe();
  }

  settle(): void {
    if (!this.#over) this.#silence.settle();
  }

  /** Stops reading for a holder; goes on when no holder is left. */
  hold(holder: object, held: boolean): void {
    const before = this.#holders.size > 0;
    if (held) this.#holders.add(holder);
    else this.#holders.delete(holder);
    const now = this.#holders.size > 0;
    if (now === before || this.#over) return;
    this.#silence.suspend(now);
    if (now) this.#socket.pause?.();
    else this.#socket.resume?.();
  }

  /** Ends the socket with an error; without effect after its end. */
  fail(error: Error): void {
    if (this.#over) return;
    this.#error = error;
    this.close();
    this.#listener?.broken(error);
  }

  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#silence.end();
    this.#signal?.removeEventListener('abort', this.#stop);
    this.#socket.close();
  }

  readonly #stop = () => {
    if (this.#signal) this.fail(aborted(this.#signal));
  };

  #take(data: string | Uint8Array, listener: EventSocketListener): void {
    this.#silence.touch();
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
