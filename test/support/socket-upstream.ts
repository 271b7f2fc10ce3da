import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export type Frame = Record<string, unknown>;

/** The upstream side of a socket that the gateway has opened. */
export interface UpstreamConnection {
  /** Requested path and query. */
  url: string;
  headers: IncomingMessage['headers'];
  socket: WebSocket;
  /** Parsed text frames received so far. */
  received: Frame[];
  /** Undefined while the socket is open. */
  closeCode: number | undefined;
  send(frame: object): void;
}

/** Handlers of the sockets of an upstream. */
export interface Script {
  opened?(connection: UpstreamConnection): void;
  frame?(connection: UpstreamConnection, frame: Frame): void;
}

export interface SocketUpstream {
  url: string;
  connections: UpstreamConnection[];
  /** Handlers of the next connections. Open connections keep theirs. */
  script: Script;
  /** Status with which handshakes are rejected, or `hang` to leave them unanswered. */
  refuse: number | 'hang' | undefined;
  close(): Promise<void>;
}

/** Starts a WebSocket upstream that records its frames and runs a script. */
export async function startSocketUpstream(script: Script = {}): Promise<SocketUpstream> {
  const server = createServer((_request, response) => void response.writeHead(404).end());
  const switcher = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const waiting = new Set<{ destroy(): void }>();
  const opened = new Set<WebSocket>();
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {});
    if (upstream.refuse === 'hang') {
      waiting.add(socket);
    } else if (upstream.refuse !== undefined) {
      socket.end(`HTTP/1.1 ${upstream.refuse} No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    } else {
      switcher.handleUpgrade(request, socket, head, (socket) => accept(socket, request));
    }
  });
  const accept = (socket: WebSocket, request: IncomingMessage) => {
    const active = upstream.script;
    const connection: UpstreamConnection = {
      url: request.url ?? '',
      headers: request.headers,
      socket,
      received: [],
      closeCode: undefined,
      send: (frame) => socket.send(JSON.stringify(frame)),
    };
    upstream.connections.push(connection);
    opened.add(socket);
    socket.on('error', () => {});
    socket.on('close', (code) => {
      opened.delete(socket);
      connection.closeCode = code;
    });
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as Frame;
      connection.received.push(frame);
      active.frame?.(connection, frame);
    });
    active.opened?.(connection);
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const upstream: SocketUpstream = {
    url: `http://127.0.0.1:${port}`,
    connections: [],
    script,
    refuse: undefined,
    async close() {
      for (const socket of opened) socket.terminate();
      for (const socket of waiting) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return upstream;
}
