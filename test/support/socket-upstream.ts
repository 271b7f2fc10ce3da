import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export type Frame = Record<string, unknown>;

/** One socket that the gateway has opened, as its upstream sees it. */
export interface UpstreamConnection {
  /** Path and query as asked for. */
  url: string;
  headers: IncomingMessage['headers'];
  socket: WebSocket;
  /** Text frames so far, parsed. */
  received: Frame[];
  /** Set when the socket has closed. */
  closeCode: number | undefined;
  send(frame: object): void;
}

/** What an upstream does with its sockets. */
export interface Script {
  opened?(connection: UpstreamConnection): void;
  frame?(connection: UpstreamConnection, frame: Frame): void;
}

export interface SocketUpstream {
  url: string;
  connections: UpstreamConnection[];
  /** What the next connections are played by; the ones that are open stay with theirs. */
  script: Script;
  /** Set to a status to refuse handshakes with it, or to `hang` to leave them without an answer. */
  refuse: number | 'hang' | undefined;
  close(): Promise<void>;
}

/** An upstream of sockets that records what it gets and plays a script. */
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
      switcher.handleUpgrade(request, socket, head, (socket) => take(socket, request));
    }
  });
  const take = (socket: WebSocket, request: IncomingMessage) => {
    const played = upstream.script;
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
      played.frame?.(connection, frame);
    });
    played.opened?.(connection);
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
