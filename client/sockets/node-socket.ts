import type { IncomingMessage } from 'node:http';
import type { RawData, WebSocket } from 'ws';
import { APIError, ConnectionError, requestIdOf } from '../errors.ts';
import type { Socket, SocketListener, SocketTarget } from './socket.ts';

type WebSocketClass = typeof WebSocket;

const maxFrameBytes = 16 * 1024 * 1024;
const maxRefusalCharacters = 64 * 1024;

/** The package `ws`; undefined where it is not installed. */
export async function importWs(): Promise<unknown> {
  try {
    return (await import('ws')).WebSocket;
  } catch {
    return undefined;
  }
}

/** Opens a socket with `ws`. Throws APIError when the gateway refuses, ConnectionError when it cannot be reached. */
export function openNodeSocket(target: SocketTarget, ws: unknown): Promise<Socket> {
  const { url, key, headers, signal } = target;
  const socket = new (ws as WebSocketClass)(url, {
    headers: { ...headers, authorization: `Bearer ${key}` },
    perMessageDeflate: false,
    maxPayload: maxFrameBytes,
  });
  return new Promise((resolve, reject) => {
    let requestId: string | undefined;
    const stop = () => {
      reject(signal.reason);
      socket.terminate();
    };
    signal.addEventListener('abort', stop, { once: true });
    const settled = () => signal.removeEventListener('abort', stop);
    // Stays for good: a close follows every error of an open socket.
    socket.on('error', (cause) => {
      settled();
      const reason = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
      reject(new ConnectionError(`The socket to ${new URL(url).host} failed: ${reason}.`, { cause }));
    });
    socket.once('upgrade', (response) => {
      requestId = requestIdOf(headersOf(response));
    });
    socket.once('unexpected-response', (_, response: IncomingMessage) => {
      refusalOf(response).then(reject, reject).finally(settled);
    });
    socket.once('open', () => {
      settled();
      // Frames may be here already; they wait for the listener.
      socket.pause();
      resolve(new NodeSocket(socket, requestId));
    });
  });
}

class NodeSocket implements Socket {
  readonly requestId: string | undefined;
  readonly #socket: WebSocket;

  constructor(socket: WebSocket, requestId: string | undefined) {
    this.#socket = socket;
    this.requestId = requestId;
  }

  listen(listener: SocketListener): void {
    this.#socket.on('message', (data: RawData, binary: boolean) => {
      const bytes = data as Buffer;
      listener.frame(binary ? plainBytes(bytes) : bytes.toString());
    });
    this.#socket.on('close', (code: number, reason: Buffer) => listener.closed(code, reason.toString()));
    if (this.#socket.readyState === this.#socket.CLOSED) listener.closed(1006, '');
    this.#socket.resume();
  }

  send(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.send(text, (error) => {
        if (error) reject(new ConnectionError('The socket is closed.', { cause: error }));
        else resolve();
      });
    });
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    // The gateway's close frame must be read.
    this.#socket.resume();
    this.#socket.close(1000);
  }
}

/** The error of a handshake that was answered as ordinary HTTP. */
async function refusalOf(response: IncomingMessage): Promise<APIError> {
  let text = '';
  response.setEncoding('utf8');
  try {
    for await (const piece of response) {
      text += piece;
      if (text.length > maxRefusalCharacters) break;
    }
  } catch {
    // The status is worth more than the rest of a body that broke off.
  }
  const status = response.statusCode ?? 502;
  return APIError.of({ status, headers: headersOf(response), body: parse(text) });
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const lines = Object.entries(headersDistinct);
  return new Headers(lines.flatMap(([name, values = []]) => values.map((v): [string, string] => [name, v])));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function plainBytes({ buffer, byteOffset, byteLength }: Buffer): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
