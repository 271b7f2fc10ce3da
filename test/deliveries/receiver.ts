import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Webhook } from 'standardwebhooks';

export interface Received {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  /** Header `webhook-id`. */
  id: string;
  /** Header `webhook-timestamp`. */
  timestamp: string;
  text: string;
  body: { id: string; status: string } & Record<string, unknown>;
}

/** Computes the header `webhook-signature` that a delivery should have. */
export function signatureOf({ id, timestamp, text }: Received, webhook: Webhook): string {
  return webhook.sign(id, new Date(Number(timestamp) * 1000), text);
}

/** HTTP server at a callback URL. Acknowledges everything by default. */
export class Receiver {
  readonly seen: Received[] = [];
  /** Status of the response, or a function that responds. */
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

  /** Received states by task, in order of arrival. */
  statesByTask(): Record<string, string[]> {
    const states: Record<string, string[]> = {};
    for (const { body } of this.seen) (states[body.id] ??= []).push(body.status);
    return states;
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
