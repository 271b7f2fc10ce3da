import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Webhook } from 'standardwebhooks';

export interface Received {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  /** The header `webhook-id`. */
  id: string;
  /** The header `webhook-timestamp`. */
  timestamp: string;
  text: string;
  body: { id: string; status: string } & Record<string, unknown>;
}

/** The header `webhook-signature` that a delivery should have, whenever it came. */
export function signatureOf({ id, timestamp, text }: Received, webhook: Webhook): string {
  return webhook.sign(id, new Date(Number(timestamp) * 1000), text);
}

/** Somebody's server at a callback address. It acknowledges everything until it is told otherwise. */
export class Receiver {
  readonly seen: Received[] = [];
  /** The status to answer with, or a function that answers, or does not. */
  answer: number | ((delivery: Received, response: ServerResponse) => void) = 200;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => void this.#receive(request, response));
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(path = '/hook'): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** What it was told of each task, in order. */
  told(): Record<string, string[]> {
    const told: Record<string, string[]> = {};
    for (const { body } of this.seen) (told[body.id] ??= []).push(body.status);
    return told;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const { method = '', url = '', headers } = request;
    const body = JSON.parse(text) as Received['body'];
    const id = String(headers['webhook-id']);
    const timestamp = String(headers['webhook-timestamp']);
    const delivery = { method, path: url, headers, id, timestamp, text, body };
    this.seen.push(delivery);
    if (typeof this.answer === 'number') response.writeHead(this.answer).end();
    else this.answer(delivery, response);
  }
}
