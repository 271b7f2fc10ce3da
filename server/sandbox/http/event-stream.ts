import { once } from 'node:events';
import type { Exchange } from './exchange.ts';
import type { NativeError } from './native-error.ts';

/** Returns true if the client requests server-sent events. */
export function requestsEvents({ request }: Exchange): boolean {
  return String(request.headers['x-native-sse'] ?? '').toLowerCase() === 'enable';
}

/**
 * Server-sent events in the providers' layout, without a space after a colon: `id`, `event`, the HTTP status as a
 * comment, one line of `data`, an empty line.
 */
export class EventStream {
  readonly #exchange: Exchange;
  #count = 0;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  get hasStarted(): boolean {
    return this.#count > 0;
  }

  /** Sends a result and waits while the socket buffer is full. */
  async send(data: object): Promise<void> {
    await this.write('result', 200, JSON.stringify(data));
  }

  /** Ends the stream with an error event. */
  async fail(error: NativeError): Promise<void> {
    await this.write('error', error.status, JSON.stringify(error.body(this.#exchange.requestId)));
    this.end();
  }

  /** Sends one event whose data is already serialized. */
  async write(event: 'result' | 'error', status: number, data: string): Promise<void> {
    const { response, signal } = this.#exchange;
    signal.throwIfAborted();
    if (!this.hasStarted)
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    this.#count++;
    const flushed = response.write(
      `id:${this.#count}\nevent:${event}\n:HTTP_STATUS/${status}\ndata:${data}\n\n`,
    );
    if (!flushed) await once(response, 'drain', { signal });
  }

  end(): void {
    this.#exchange.response.end();
  }
}
