import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { checkKey, type RoutingContext, requestUrl } from '../http/routing.ts';
import { Connection } from './connection.ts';
import { findProtocol } from './protocols.ts';

/** Maximum frame size in bytes. A larger frame closes the socket with 1009. */
const maxFrameBytes = 1024 * 1024;

/** Handles the upgrade requests of the sandbox's HTTP server. */
export class SocketServer {
  readonly #context: RoutingContext;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: maxFrameBytes, clientTracking: true });

  constructor(context: RoutingContext) {
    this.#context = context;
  }

  /**
   * Returns true if the request can be upgraded. Otherwise it is handled as an HTTP request, whose response reports the
   * error.
   */
  canUpgrade(request: IncomingMessage): boolean {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') return false;
    const url = requestUrl(request);
    const protocol = findProtocol(url);
    if (!protocol) return false;
    try {
      checkKey(request, this.#context.key);
      protocol.validate(url.searchParams);
      return true;
    } catch {
      return false;
    }
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { services, logger } = this.#context;
    const url = requestUrl(request);
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      const connection = new Connection(webSocket);
      const report = (error: unknown) => {
        if (!connection.signal.aborted)
          logger?.error({ err: error, path: request.url }, 'sandbox socket failed');
      };
      findProtocol(url)?.open({ connection, services, query: url.searchParams, report });
    });
  }

  close(): void {
    for (const socket of this.#server.clients) socket.terminate();
    this.#server.close();
  }
}
