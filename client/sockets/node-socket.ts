import type { IncomingMessage } from 'node:http';
import type { RawData, WebSocket } from 'ws';
import { connectionReason } from '../connection-reason.ts';
import { APIError, ConnectionError } from '../errors.ts';
import { headerRequestId } from '../request-id.ts';
import type { Socket, SocketListener, SocketRequest } from './socket.ts';

type WebSocketClass = typeof WebSocket;

const maxFrameBytes = 16 * 1024 * 1024;
const maxErrorBodyLength = 64 * 1024;

/** Loads the package `ws`. Undefined if it is not installed. */
export async function importWs(): Promise<unknown> {
  try {
    return (await import('ws')).WebSocket;
  } catch {
    return undefined;
  }
}

/** Opens a socket with `ws`. Throws APIError for a rejected handshake, ConnectionError if the gateway is unreachable. */
export function openNodeSocket(request: SocketRequest, ws: unknown): Promise<Socket> {
  const { url, key, headers, signal } = request;
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
    const removeListener = () => signal.removeEventListener('abort', stop);
    // This listener stays, because every error of an open socket is followed by a close.
    socket.on('error', (cause) => {
      removeListener();
      const message = `The socket to ${new URL(url).host} failed: ${connectionReason(cause)}.`;
      reject(new ConnectionError(message, { cause }));
    });
    socket.once('upgrade', (response) => {
      requestId = headerRequestId(headersOf(response));
    });
    socket.once('unexpected-response', (_, response: IncomingMessage) => {
      handshakeError(response).then(reject, reject).finally(removeListener);
    });
    socket.once('open', () => {
      removeListener();
      // Frames may have arrived already. They wait for the listener.
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
      listener.frame(binary ? toUint8Array(bytes) : bytes.toString());
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
    // A paused socket would not read the close frame of the gateway.
    this.#socket.resume();
    this.#socket.close(1000);
  }
}

/** Creates the error of a handshake with an HTTP error response. */
async function handshakeError(response: IncomingMessage): Promise<APIError> {
  let text = '';
  response.setEncoding('utf8');
  try {
    for await (const chunk of response) {
      text += chunk;
      if (text.length > maxErrorBodyLength) break;
    }
  } catch {
    // The status is enough if the body breaks off.
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

function toUint8Array({ buffer, byteOffset, byteLength }: Buffer): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
