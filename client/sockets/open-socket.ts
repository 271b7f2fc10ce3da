import { TimeoutError } from '../errors.ts';
import { aborted } from '../retry.ts';
import { openBrowserSocket, type WebSocketClass } from './browser-socket.ts';
import { importWs, openNodeSocket } from './node-socket.ts';
import type { Socket, SocketTarget } from './socket.ts';

export interface SocketOptions {
  /** Ends the handshake and later the socket with AbortError. */
  signal?: AbortSignal;
  /**
   * Milliseconds for the handshake and for each answer that the gateway owes; after `finish` for its silence.
   * 60,000 when it is left out.
   */
  timeout?: number;
  /** Headers of the handshake beside those of the contract; browsers send none. */
  headers?: Record<string, string>;
}

/** Where sockets are opened, and with what key. */
export interface SocketGateway {
  baseUrl: string;
  key: string;
  /** A browser's WebSocket class, instead of `ws` in Node. */
  webSocket?: WebSocketClass;
}

export const defaultTimeout = 60_000;

/**
 * Opens a socket of the gateway: with `ws` in Node, with the global WebSocket elsewhere. Throws APIError when the
 * gateway refuses, ConnectionError, TimeoutError or AbortError. A handshake is not repeated.
 */
export async function openSocket(
  gateway: SocketGateway,
  path: string,
  model: string,
  options: SocketOptions & { keyAsSubprotocol: boolean },
): Promise<Socket> {
  const { signal, timeout = defaultTimeout, headers = {}, keyAsSubprotocol } = options;
  const handshake = new AbortController();
  const stop = () => signal && handshake.abort(aborted(signal));
  signal?.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(
    () => handshake.abort(new TimeoutError(`No answer to the handshake within ${timeout} ms.`)),
    timeout,
  );
  try {
    const ws = gateway.webSocket || !inNode() ? undefined : await importWs();
    if (signal?.aborted) throw aborted(signal);
    const target: SocketTarget = {
      url: `${gateway.baseUrl.replace(/^http/i, 'ws')}${path}?model=${encodeURIComponent(model)}`,
      key: gateway.key,
      headers,
      keyAsSubprotocol,
      signal: handshake.signal,
    };
    if (ws) return await openNodeSocket(target, ws);
    return await openBrowserSocket(target, gateway.webSocket ?? WebSocket);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

function inNode(): boolean {
  return globalThis.process?.versions?.node !== undefined;
}
