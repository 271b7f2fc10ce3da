import { WebSocket } from 'ws';
import type { Frame } from './socket-upstream.ts';
import { noteAnswer, noteEvent } from './told-errors.ts';

export interface SocketClient {
  socket: WebSocket;
  /** Text frames so far, parsed. */
  events: Frame[];
  /** Binary frames so far. */
  audio: Buffer[];
  /** Headers of the 101. */
  headers: Record<string, string | string[] | undefined>;
  send(frame: object | string): void;
  /** The next text frame that was not taken yet and fits; rejects when the socket closes before it comes. */
  next(fits?: (frame: Frame) => boolean): Promise<Frame>;
  closed: Promise<{ code: number; reason: string }>;
}

/** A handshake that was answered with an ordinary HTTP response. */
export class HandshakeRefused extends Error {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: { error: { code: string; message: string; request_id: string } };

  constructor(status: number, headers: HandshakeRefused['headers'], text: string) {
    super(`refused with ${status}: ${text}`);
    this.status = status;
    this.headers = headers;
    this.body = JSON.parse(text) as HandshakeRefused['body'];
  }
}

export interface ConnectOptions {
  key?: string;
  protocols?: string[];
  headers?: Record<string, string>;
  /** PEM certificate to trust. */
  ca?: string;
  autoPong?: boolean;
}

/** Opens a socket. @throws HandshakeRefused when the answer is no 101. */
export function connect(address: string, options: ConnectOptions = {}): Promise<SocketClient> {
  const { key, protocols = [], headers = {}, ca, autoPong = true } = options;
  const socket = new WebSocket(address.replace(/^http/, 'ws'), protocols, {
    headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...headers },
    perMessageDeflate: false,
    autoPong,
    ...(ca === undefined ? {} : { ca }),
  });
  const taken = new Set<Frame>();
  let wake: (() => void)[] = [];
  const woken = () => {
    for (const one of wake.splice(0)) one();
  };
  let closed = false;
  const client: SocketClient = {
    socket,
    events: [],
    audio: [],
    headers: {},
    send: (frame) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    async next(fits = () => true) {
      for (;;) {
        const found = client.events.find((frame) => !taken.has(frame) && fits(frame));
        if (found !== undefined) {
          taken.add(found);
          return found;
        }
        if (closed) throw new Error(`closed before it came; seen: ${JSON.stringify(client.events)}`);
        await new Promise<void>((resolve) => wake.push(resolve));
      }
    },
    closed: new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        closed = true;
        wake = [...wake];
        woken();
        resolve({ code, reason: reason.toString() });
      });
    }),
  };
  // The ids of providers and mocks have another form.
  const ofGateway = () => /^req_[0-9a-f]{32}$/.test(String(client.headers['x-request-id']));
  socket.on('message', (data: Buffer, binary: boolean) => {
    if (binary) client.audio.push(data);
    else {
      const frame = JSON.parse(data.toString()) as Frame;
      if (ofGateway()) noteEvent(frame);
      client.events.push(frame);
    }
    woken();
  });
  return new Promise((resolve, reject) => {
    socket.on('upgrade', (response) => {
      client.headers = response.headers;
    });
    socket.on('open', () => resolve(client));
    socket.on('error', reject);
    socket.on('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { statusCode = 0, headers: heads } = response;
        const text = Buffer.concat(chunks).toString();
        noteAnswer({ method: 'get', path: new URL(address).pathname }, statusCode, text);
        reject(new HandshakeRefused(statusCode, heads, text));
      });
    });
  });
}
