import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request to one of the receiver's addresses. */
export interface ReceivedCallback {
  method: string;
  query: URLSearchParams;
  headers: Headers;
  body: string;
  /** Epoch milliseconds. */
  receivedAt: number;
}

export interface ReceiverOptions {
  /** URL at which the server reaches the receiver. Default: loopback, on a free port. */
  publicUrl: string | undefined;
  /** Port to listen on. Default: the port of `publicUrl`. */
  port: number | undefined;
}

/** Larger than any task object, in bytes. */
const maxBodyBytes = 4 * 1024 * 1024;

/** Receives and acknowledges callbacks. Each task has its own unguessable address. */
export class Receiver {
  readonly #server: Server;
  readonly #base: string;
  readonly #received = new Map<string, ReceivedCallback[]>();
  readonly #waiting = new Set<() => void>();

  private constructor(server: Server, base: string) {
    this.#server = server;
    this.#base = base;
  }

  /** @throws Error when it cannot listen there */
  static async open({ publicUrl, port }: ReceiverOptions): Promise<Receiver> {
    const url = new URL(publicUrl ?? 'http://127.0.0.1:0');
    const defaultPort = url.protocol === 'https:' ? 443 : 80;
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      const host = isLoopback(url.hostname) ? url.hostname.replace(/[[\]]/g, '') : undefined;
      server.listen(port ?? Number(url.port === '' ? defaultPort : url.port), host, resolve);
    });
    // The receiver does not keep the process alive.
    server.unref();
    const loopback = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const receiver = new Receiver(server, (publicUrl ?? loopback).replace(/\/+$/, ''));
    server.on('request', (request, response) => {
      void receiver.#receive(request).then(
        (isKnown) => response.writeHead(isKnown ? 204 : 404).end(),
        () => request.destroy(),
      );
    });
    return receiver;
  }

  /** Returns a new, unused address. */
  newAddress(): string {
    const name = crypto.randomUUID();
    this.#received.set(name, []);
    return `${this.#base}/${name}`;
  }

  /** Returns the requests to an address, in order. */
  requestsTo(address: string): readonly ReceivedCallback[] {
    return this.#received.get(nameIn(address)) ?? [];
  }

  /** Waits until `isEnough` returns true or the timeout expires. Returns the requests received. */
  async waitUntil(
    address: string,
    isEnough: (all: readonly ReceivedCallback[]) => boolean,
    timeoutMs: number,
  ): Promise<readonly ReceivedCallback[]> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const remainingMs = deadline - performance.now();
      if (isEnough(this.requestsTo(address)) || remainingMs <= 0) return this.requestsTo(address);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, remainingMs);
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

  /** Records a request. Returns whether its address exists. */
  async #receive(request: IncomingMessage): Promise<boolean> {
    const { method = '', url = '', headersDistinct } = request;
    const [path = '', query = ''] = url.split('?', 2);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size > maxBodyBytes) throw new Error('a callback is larger than any task object');
    }
    const headers = new Headers();
    for (const [name, values = []] of Object.entries(headersDistinct))
      for (const value of values) headers.append(name, value);
    const body = Buffer.concat(chunks).toString('utf8');
    const requests = this.#received.get(nameIn(path));
    requests?.push({ method, query: new URLSearchParams(query), headers, body, receivedAt: Date.now() });
    for (const wake of this.#waiting) wake();
    return requests !== undefined;
  }
}

const nameIn = (address: string): string => address.slice(address.lastIndexOf('/') + 1);

export const isLoopback = (host: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host.toLowerCase());
