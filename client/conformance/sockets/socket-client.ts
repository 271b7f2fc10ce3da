import { WebSocket } from 'ws';
import type { JsonObject } from '../../../openapi/tools/document.ts';

export type Frame = JsonObject;

export interface SocketClient {
  socket: WebSocket;
  /** Text frames so far, parsed. */
  events: Frame[];
  /** Binary frames so far. */
  audio: Buffer[];
  /** Text frames that were no JSON object. */
  garbage: string[];
  /** Headers of the 101. */
  headers: Record<string, string | string[] | undefined>;
  send(frame: object | string): void;
  /**
   * The next text frame that was not taken yet and fits; rejects when the socket closes before it comes, or the time is
   * over.
   */
  next(fits?: (frame: Frame) => boolean): Promise<Frame>;
  closed: Promise<{ code: number; reason: string }>;
}

/** A handshake that was answered with an ordinary HTTP response. */
export class HandshakeRefused extends Error {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;

  constructor(status: number, headers: HandshakeRefused['headers'], text: string) {
    super(`the handshake is refused with ${status}: ${text}`);
    this.status = status;
    this.headers = headers;
    this.text = text;
  }

  /** The generic error that it is. @throws Error when it is no JSON */
  get body(): { error: { code: string; message: string; request_id: string } } {
    return JSON.parse(this.text) as HandshakeRefused['body'];
  }
}

export interface ConnectOptions {
  key?: string | undefined;
  protocols?: string[];
  headers?: Record<string, string>;
  /** PEM certificate to trust. */
  ca?: string | undefined;
  autoPong?: boolean;
  /** Longest wait for the handshake and for each frame, in milliseconds; default: for ever. */
  timeoutMs?: number;
  /** Told of each text frame as it comes. */
  onFrame?: (frame: Frame, client: SocketClient) => void;
}

/** Opens a socket. @throws HandshakeRefused when the answer is no 101 */
export function connect(address: string, options: ConnectOptions = {}): Promise<SocketClient> {
  const { key, protocols = [], headers = {}, ca, autoPong = true, timeoutMs, onFrame } = options;
  const socket = new WebSocket(address.replace(/^http/, 'ws'), protocols, {
    headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
    perMessageDeflate: false,
    autoPong,
    ...(ca !== undefined && { ca }),
    ...(timeoutMs !== undefined && { handshakeTimeout: timeoutMs }),
  });
  const taken = new Set<Frame>();
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const one of waiting) one();
  };
  let closed = false;
  const client: SocketClient = {
    socket,
    events: [],
    audio: [],
    garbage: [],
    headers: {},
    send: (frame) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    async next(fits = () => true) {
      const deadline = performance.now() + (timeoutMs ?? Infinity);
      for (;;) {
        const found = client.events.find((frame) => !taken.has(frame) && fits(frame));
        if (found !== undefined) {
          taken.add(found);
          return found;
        }
        const left = deadline - performance.now();
        if (closed || left <= 0) {
          const why = closed ? 'the socket closed' : `${(timeoutMs ?? 0) / 1000} seconds were over`;
          throw new Error(`${why} before it came; last: ${JSON.stringify(client.events.slice(-3))}`);
        }
        await new Promise<void>((resolve) => {
          const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, left);
          const done = () => {
            clearTimeout(timer);
            waiting.delete(done);
            resolve();
          };
          waiting.add(done);
        });
      }
    },
    closed: new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        closed = true;
        wake();
        resolve({ code, reason: reason.toString() });
      });
    }),
  };
  socket.on('message', (data: Buffer, binary: boolean) => {
    if (binary) client.audio.push(data);
    else take(client, data.toString(), onFrame);
    wake();
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
        reject(new HandshakeRefused(statusCode, heads, Buffer.concat(chunks).toString()));
      });
    });
  });
}

function take(client: SocketClient, text: string, onFrame: ConnectOptions['onFrame']): void {
  let frame: Frame;
  try {
    frame = JSON.parse(text) as Frame;
  } catch {
    client.garbage.push(text.slice(0, 200));
    return;
  }
  onFrame?.(frame, client);
  client.events.push(frame);
}
