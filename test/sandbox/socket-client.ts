import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';

export interface Closing {
  code: number;
  reason: string;
}

/** A refused handshake. */
export interface Refusal {
  status: number;
  body: { code: string; message: string; request_id: string };
}

/** A socket whose frames are taken one by one, in order. */
export class SocketClient {
  readonly socket: WebSocket;
  readonly closed: Promise<Closing>;
  readonly #frames: (string | Buffer)[] = [];
  #wake: () => void = () => {};
  #closing: Closing | undefined;

  constructor(url: string, key: string) {
    this.socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } });
    this.socket.on('error', () => {});
    this.socket.on('message', (data: Buffer, binary) => {
      this.#frames.push(binary ? data : data.toString());
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      this.socket.once('close', (code, reason) => {
        this.#closing = { code, reason: reason.toString() };
        resolve(this.#closing);
        this.#wake();
      });
    });
  }

  send(frame: object | string | Buffer): void {
    const raw = typeof frame === 'string' || Buffer.isBuffer(frame);
    this.socket.send(raw ? frame : JSON.stringify(frame));
  }

  /** The next frame; undefined once the socket is closed. */
  async take(): Promise<string | Buffer | undefined> {
    while (this.#frames.length === 0 && !this.#closing) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#frames.shift();
  }

  /** Resolves when the other side has read all that was sent so far. */
  async roundTrip(): Promise<void> {
    const answered = new Promise((resolve) => this.socket.once('pong', resolve));
    this.socket.ping();
    await answered;
  }

  /** Frames that have come and were not taken. */
  get waiting(): number {
    return this.#frames.length;
  }
}

/** The answer to a handshake that must be refused. */
export async function refusedHandshake(url: string, key: string): Promise<Refusal> {
  const { socket } = new SocketClient(url, key);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    socket.once('unexpected-response', (_request, response) => resolve(response));
    socket.once('open', () => reject(new Error('The handshake was accepted')));
  });
  const parts = await answer.toArray();
  return { status: answer.statusCode ?? 0, body: JSON.parse(Buffer.concat(parts).toString()) };
}
