import { TimeoutError } from '../errors.ts';
import { abortError } from '../retry.ts';
import { openBrowserSocket, type WebSocketClass } from './browser-socket.ts';
import { importWs, openNodeSocket } from './node-socket.ts';
import type { Socket, SocketRequest } from './socket.ts';

export interface SocketOptions {
  /** Aborts the handshake, and later the socket, with AbortError. */
  signal?: AbortSignal;
  /**
   * Timeout of the handshake, of each response and, after `finish`, of the idle time, in milliseconds. Default: 60,000.
   */
  timeout?: number;
  /** Additional headers of the handshake. Browsers send none. */
  headers?: Record<string, string>;
}

/** URL and key of the gateway. */
export interface SocketGateway {
  baseUrl: string;
  key: string;
  /** Headers of every handshake. Browsers send none. */
  headers: Record<string, string>;
  /** WebSocket class with the browser API, instead of `ws` in Node. */
  webSocket?: WebSocketClass;
}

export const defaultTimeout = 60_000;

/**
 * Opens a socket with `ws` in Node, and with the global WebSocket elsewhere. Throws APIError for a rejected handshake,
 * ConnectionError, TimeoutError or AbortError. Does not retry the handshake.
 */
export async function openSocket(
  gateway: SocketGateway,
  path: string,
  model: string,
  options: SocketOptions & { keyAsSubprotocol: boolean },
): Promise<Socket> {
  const { signal, timeout = defaultTimeout, headers = {}, keyAsSubprotocol } = options;
  const handshake = new AbortController();
  const stop = () => signal && handshake.abort(abortError(signal));
  signal?.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(
    () => handshake.abort(new TimeoutError(`No response to the handshake within ${timeout} ms.`)),
    timeout,
  );
  try {
    const ws = gateway.webSocket || !inNode() ? undefined : await importWs();
    if (signal?.aborted) throw abortError(signal);
    const request: SocketRequest = {
      url: `${gateway.baseUrl.replace(/^http/i, 'ws')}${path}?model=${encodeURIComponent(model)}`,
      key: gateway.key,
      headers: { ...gateway.headers, ...headers },
      keyAsSubprotocol,
      signal: handshake.signal,
    };
    if (ws) return await openNodeSocket(request, ws);
    return await openBrowserSocket(request, gateway.webSocket ?? WebSocket);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

function inNode(): boolean {
  return globalThis.process?.versions?.node !== undefined;
}
