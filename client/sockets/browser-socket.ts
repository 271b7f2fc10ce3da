import { ConnectionError, UnigateError } from '../errors.ts';
import type { Socket, SocketListener, SocketRequest } from './socket.ts';

export type WebSocketClass = typeof WebSocket;

/** Maximum number of unsent bytes before `send` waits. */
const maxBufferedBytes = 1024 * 1024;
const drainPollMs = 20;

/**
 * Opens a socket with the WebSocket of browsers. Sends the key as a subprotocol, because browsers set no headers. A rejected
 * handshake is a ConnectionError, because browsers hide the response.
 */
export function openBrowserSocket(request: SocketRequest, WebSocket: WebSocketClass): Promise<Socket> {
  const { url, key, keyAsSubprotocol, signal } = request;
  if (!keyAsSubprotocol)
    throw new UnigateError(
      'This socket requires the key in a header; install ws in Node, or use realtime in a browser.',
    );
  const socket = start(url, key, WebSocket);
  socket.binaryType = 'arraybuffer';
  return new Promise((resolve, reject) => {
    const stop = () => {
      reject(signal.reason);
      socket.close();
    };
    signal.addEventListener('abort', stop, { once: true });
    const removeListener = () => signal.removeEventListener('abort', stop);
    socket.addEventListener('open', () => {
      removeListener();
      resolve(new BrowserSocket(socket));
    });
    socket.addEventListener('close', () => {
      removeListener();
      const { host } = new URL(url);
      reject(new ConnectionError(`The socket to ${host} failed; browsers do not report the reason.`));
    });
  });
}

function start(url: string, key: string, WebSocket: WebSocketClass): WebSocket {
  try {
    return new WebSocket(url, ['realtime', `openai-insecure-api-key.${key}`]);
  } catch {
    // The error of the browser would contain the key.
    throw new UnigateError('apiKey contains characters that are not allowed in a subprotocol.');
  }
}

class BrowserSocket implements Socket {
  readonly requestId = undefined;
  readonly #socket: WebSocket;
  #earlyFrames: (string | Uint8Array)[] = [];
  #listener: SocketListener | undefined;
  #closeEvent: { code: number; reason: string } | undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', (event) => {
      const data = event.data as string | ArrayBuffer;
      const frame = typeof data === 'string' ? data : new Uint8Array(data);
      if (this.#listener) this.#listener.frame(frame);
      else this.#earlyFrames.push(frame);
    });
    socket.addEventListener('close', ({ code, reason }) => {
      this.#closeEvent = { code, reason };
      this.#listener?.closed(code, reason);
    });
  }

  listen(listener: SocketListener): void {
    for (const frame of this.#earlyFrames) listener.frame(frame);
    this.#earlyFrames = [];
    this.#listener = listener;
    if (this.#closeEvent) listener.closed(this.#closeEvent.code, this.#closeEvent.reason);
  }

  async send(text: string): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) throw new ConnectionError('The socket is closed.');
    this.#socket.send(text);
    // Browsers send no event when the buffer drains.
    while (this.#socket.bufferedAmount > maxBufferedBytes && this.#socket.readyState === this.#socket.OPEN)
      await new Promise((resolve) => setTimeout(resolve, drainPollMs));
  }

  close(): void {
    this.#socket.close(1000);
  }
}
