import { WebSocket } from 'ws';
import type { JsonObject } from '../../../openapi/tools/document.ts';

export type Frame = JsonObject;

export interface SocketClient {
  socket: WebSocket;
  /** Parsed text frames received so far. */
  events: Frame[];
  /** Binary frames received so far. */
  audio: Buffer[];
  /** Text frames that are not JSON. */
  invalidFrames: string[];
  /** Headers of the 101. */
  headers: Record<string, string | string[] | undefined>;
  send(frame: object | string): void;
  /**
   * Waits for the next unread text frame that matches. Rejects if the socket closes before it arrives, or on a
   * timeout.
   */
  next(matches?: (frame: Frame) => boolean): Promise<Frame>;
  closed: Promise<{ code: number; reason: string }>;
}

/** The server responded to the handshake without an upgrade. */
export class HandshakeRefused extends Error {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;

  constructor(status: number, headers: HandshakeRefused['headers'], text: string) {
    super(`the handshake failed with status ${status}: ${text}`);
    this.status = status;
    this.headers = headers;
    this.text = text;
  }

  /** The response body as a generic error. @throws Error when it is not JSON */
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
  /** Timeout for the handshake and for each frame, in milliseconds. Default: none. */
  timeoutMs?: number;
  /** Called for each text frame. */
  onFrame?: (frame: Frame, client: SocketClient) => void;
}

/** Opens a socket. @throws HandshakeRefused when the response is not a 101 */
export function connect(address: string, options: ConnectOptions = {}): Promise<SocketClient> {
  const { key, protocols = [], headers = {}, ca, autoPong = true, timeoutMs, onFrame } = options;
  const socket = new WebSocket(address.replace(/^http/, 'ws'), protocols, {
    headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
    perMessageDeflate: false,
    autoPong,
    ...(ca !== undefined && { ca }),
    ...(timeoutMs !== undefined && { handshakeTimeout: timeoutMs }),
  });
  const read = new Set<Frame>();
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const one of waiting) one();
  };
  let closed = false;
  const client: SocketClient = {
    socket,
    events: [],
    audio: [],
    invalidFrames: [],
    headers: {},
    send: (frame) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    async next(matches = () => true) {
      const deadline = performance.now() + (timeoutMs ?? Infinity);
      for (;;) {
        const found = client.events.find((frame) => !read.has(frame) && matches(frame));
        if (found !== undefined) {
          read.add(found);
          return found;
        }
        const remainingMs = deadline - performance.now();
        if (closed || remainingMs <= 0) {
          const why = closed ? 'the socket closed' : `${(timeoutMs ?? 0) / 1000} s passed`;
          throw new Error(
            `${why} before the frame arrived; last frames: ${JSON.stringify(client.events.slice(-3))}`,
          );
        }
        await new Promise<void>((resolve) => {
          const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, remainingMs);
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
    else receive(client, data.toString(), onFrame);
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

function receive(client: SocketClient, text: string, onFrame: ConnectOptions['onFrame']): void {
  let frame: Frame;
  try {
    frame = JSON.parse(text) as Frame;
  } catch {
    client.invalidFrames.push(text.slice(0, 200));
    return;
  }
  onFrame?.(frame, client);
  client.events.push(frame);
}
