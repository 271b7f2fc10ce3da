import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that came to an address of the receiver. */
export interface Received {
  method: string;
  query: URLSearchParams;
  headers: Headers;
  body: string;
  /** Epoch milliseconds. */
  at: number;
}

export interface ReceiverOptions {
  /** Address under which the server reaches it; undefined: loopback, on a free port. */
  at: string | undefined;
  /** Port that it listens on; undefined: that of the address. */
  port: number | undefined;
}

/** Larger than any task is shown, in bytes. */
const largestBody = 4 * 1024 * 1024;

/** Takes callbacks and acknowledges all of them. Each task has an address of its own, which nobody can guess. */
export class Receiver {
  readonly #server: Server;
  readonly #base: string;
  readonly #received = new Map<string, Received[]>();
  readonly #waiting = new Set<() => void>();

  private constructor(server: Server, base: string) {
    this.#server = server;
    this.#base = base;
  }

  /** @throws Error when it cannot listen there */
  static async open({ at, port }: ReceiverOptions): Promise<Receiver> {
    const url = new URL(at ?? 'http://127.0.0.1:0');
    const usual = url.protocol === 'https:' ? 443 : 80;
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      const host = isLoopback(url.hostname) ? url.hostname.replace(/[[\]]/g, '') : undefined;
      server.listen(port ?? Number(url.port === '' ? usual : url.port), host, resolve);
    });
    // No run waits for it.
    server.unref();
    const free = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const receiver = new Receiver(server, (at ?? free).replace(/\/+$/, ''));
    server.on('request', (request, response) => {
      void receiver.#take(request).then(
        (isKnown) => response.writeHead(isKnown ? 204 : 404).end(),
        () => request.destroy(),
      );
    });
    return receiver;
  }

  /** An address that nothing was sent to yet. */
  newAddress(): string {
    const name = crypto.randomUUID();
    this.#received.set(name, []);
    return `${this.#base}/${name}`;
  }

  /** What has come to an address, in order. */
  of(address: string): readonly Received[] {
    return this.#received.get(nameIn(address)) ?? [];
  }

  /** Waits until what came to an address is enough, or the time is over; gives what came. */
  async until(
    address: string,
    isEnough: (all: readonly Received[]) => boolean,
    timeoutMs: number,
  ): Promise<readonly Received[]> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const left = deadline - performance.now();
      if (isEnough(this.of(address)) || left <= 0) return this.of(address);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        const done = () => {
          clearTimeout(timer);
          this.#waiting.delete(done);
          resolve();
        };
        this.#waiting.add(done);
      });
    }
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /** Whether it came to an address that was given out. */
  async #take(request: IncomingMessage): Promise<boolean> {
    const { method = '', url = '', headersDistinct } = request;
    const [path = '', query = ''] = url.split('?', 2);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size > largestBody) throw new Error('a callback is larger than any task is shown');
    }
    const headers = new Headers();
    for (const [name, values = []] of Object.entries(headersDistinct))
      for (const value of values) headers.append(name, value);
    const body = Buffer.concat(chunks).toString('utf8');
    const known = this.#received.get(nameIn(path));
    known?.push({ method, query: new URLSearchParams(query), headers, body, at: Date.now() });
    for (const wake of this.#waiting) wake();
    return known !== undefined;
  }
}

const nameIn = (address: string): string => address.slice(address.lastIndexOf('/') + 1);

export const isLoopback = (host: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host.toLowerCase());
