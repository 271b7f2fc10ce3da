import { ConnectionError, UnigateError } from '../errors.ts';
import type { Socket, SocketListener, SocketTarget } from './socket.ts';

export type WebSocketClass = typeof WebSocket;

/** Bytes that may wait to be sent before the sender is made to wait. */
const highWater = 1024 * 1024;
const lookAgainMs = 20;

/**
 * Opens a socket with a browser's WebSocket. The key goes as a subprotocol, because a browser sets no headers, and a
 * refusal is a ConnectionError, because a browser does not show the answer.
 */
export function openBrowserSocket(target: SocketTarget, WebSocket: WebSocketClass): Promise<Socket> {
  const { url, key, keyAsSubprotocol, signal } = target;
  if (!keyAsSubprotocol)
    throw new UnigateError(
      'This socket takes the key in a header only; in Node install ws, in a browser use realtime.',
    );
  const socket = start(url, key, WebSocket);
  socket.binaryType = 'arraybuffer';
  return new Promise((resolve, reject) => {
    const stop = () => {
      reject(signal.reason);
      socket.close();
    };
    signal.addEventListener('abort', stop, { once: true });
    const settled = () => signal.removeEventListener('abort', stop);
    socket.addEventListener('open', () => {
      settled();
      resolve(new BrowserSocket(socket));
    });
    socket.addEventListener('close', () => {
      settled();
      const { host } = new URL(url);
      reject(new ConnectionError(`The socket to ${host} was refused or broke; a browser does not say why.`));
    });
  });
}

function start(url: string, key: string, WebSocket: WebSocketClass): WebSocket {
  try {
    return new WebSocket(url, ['realtime', `openai-insecure-api-key.${key}`]);
  } catch {
    // The error of the browser would quote the key.
    throw new UnigateError('apiKey: has characters that a subprotocol cannot carry.');
  }
}

class BrowserSocket implements Socket {
  readonly requestId = undefined;
  readonly #socket: WebSocket;
  #early: (string | Uint8Array)[] = [];
  #listener: SocketListener | undefined;
  #end: { code: number; reason: string } | undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', (event) => {
      const data = event.data as string | ArrayBuffer;
      const frame = typeof data === 'string' ? data : new Uint8Array(data);
      if (this.#listener) this.#listener.frame(frame);
      else this.#early.push(frame);
    });
    socket.addEventListener('close', ({ code, reason }) => {
      this.#end = { code, reason };
      this.#listener?.closed(code, reason);
    });
  }

  listen(listener: SocketListener): void {
    for (const frame of this.#early) listener.frame(frame);
    this.#early = [];
    this.#listener = listener;
    if (this.#end) listener.closed(this.#end.code, this.#end.reason);
  }

  async send(text: string): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) throw new ConnectionError('The socket is closed.');
    this.#socket.send(text);
    // There is no event for this.
    while (this.#socket.bufferedAmount > highWater && this.#socket.readyState === this.#socket.OPEN)
      await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  }

  close(): void {
    this.#socket.close(1000);
  }
}
