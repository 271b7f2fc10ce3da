import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { checkKey, type RoutingContext, requestUrl } from '../http/routing.ts';
import { Connection } from './connection.ts';
import { protocolOf } from './protocols.ts';

/** Bytes of the largest frame that is read; above it the socket is closed with 1009. */
const maxFrameBytes = 1024 * 1024;

/** Takes the upgrades of the sandbox's HTTP server. */
export class SocketServer {
  readonly #context: RoutingContext;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: maxFrameBytes, clientTracking: true });

  constructor(context: RoutingContext) {
    this.#context = context;
  }

  /** May this request upgrade? If not, it goes on as an ordinary one, whose answer then says why. */
  accepts(request: IncomingMessage): boolean {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') return false;
    const url = requestUrl(request);
    const protocol = protocolOf(url);
    if (!protocol) return false;
    try {
      checkKey(request, this.#context.key);
      protocol.check(url.searchParams);
      return true;
    } catch {
      return false;
    }
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { services, logger } = this.#context;
    const url = requestUrl(request);
    this.#server.handleUpgrade(request, socket, head, (opened) => {
      const connection = new Connection(opened);
      const report = (error: unknown) => {
        if (!connection.signal.aborted)
          logger?.error({ err: error, path: request.url }, 'sandbox socket failed');
      };
      protocolOf(url)?.open({ connection, services, query: url.searchParams, report });
    });
  }

  close(): void {
    for (const socket of this.#server.clients) socket.terminate();
    this.#server.close();
  }
}
