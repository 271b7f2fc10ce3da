import { once } from 'node:events';
import type { Exchange } from './exchange.ts';
import type { NativeError } from './native-error.ts';

/** Did the client ask for server-sent events? */
export function wantsEvents({ request }: Exchange): boolean {
  return String(request.headers['x-native-sse'] ?? '').toLowerCase() === 'enable';
}

/**
 * Server-sent events in the vendors' line layout, without a blank after a colon:
 * `id`, `event`, the HTTP status as a comment, one line of `data`, an empty line.
 */
export class EventStream {
  readonly #exchange: Exchange;
  #count = 0;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  get started(): boolean {
    return this.#count > 0;
  }

  /** Sends a result and waits while the client reads slower than we write. */
  async send(data: object): Promise<void> {
    await this.write('result', 200, JSON.stringify(data));
  }

  /** Ends the stream with a failure. */
  async fail(error: NativeError): Promise<void> {
    await this.write('error', error.status, JSON.stringify(error.body(this.#exchange.requestId)));
    this.end();
  }

  /** Sends one event whose data is already text. */
  async write(event: 'result' | 'error', status: number, data: string): Promise<void> {
    const { response, signal } = this.#exchange;
    signal.throwIfAborted();
    if (!this.started)
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
