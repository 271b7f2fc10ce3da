import type { IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';

export interface Closing {
  code: number;
  reason: string;
}

/** The response to a rejected handshake. */
export interface RejectedHandshake {
  status: number;
  body: { code: string; message: string; request_id: string };
}

/** A socket whose frames are read one by one, in order. */
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

  /** Returns the next frame, or undefined if the socket is closed. */
  async readFrame(): Promise<string | Buffer | undefined> {
    while (this.#frames.length === 0 && !this.#closing) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#frames.shift();
  }

  /** Resolves when the other side has read all sent frames. */
  async roundTrip(): Promise<void> {
    const ponged = new Promise((resolve) => this.socket.once('pong', resolve));
    this.socket.ping();
    await ponged;
  }

  /** Number of received frames that have not been read. */
  get pendingFrames(): number {
    return this.#frames.length;
  }
}

/** Returns the response to a handshake that must be rejected. */
export async function rejectHandshake(url: string, key: string): Promise<RejectedHandshake> {
  const { socket } = new SocketClient(url, key);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    socket.once('unexpected-response', (_request, incoming) => resolve(incoming));
    socket.once('open', () => reject(new Error('The handshake was accepted')));
  });
  const parts = await response.toArray();
  return { status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(parts).toString()) };
}
