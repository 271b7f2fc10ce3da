import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';

export type Frame = Record<string, unknown>;

export interface Accepted {
  socket: WebSocket;
  request: IncomingMessage;
  /** Parsed text frames received so far. */
  received: Frame[];
  /** Close code of the client. */
  closed: Promise<number>;
  send(event: object): void;
}

interface Script {
  opened?(accepted: Accepted): void;
  frame?(accepted: Accepted, frame: Frame): void;
}

/** Starts a loopback socket server for one test. Returns its URL and the accepted sockets. */
export async function startSocketServer(script: Script = {}) {
  const server = createServer((_, response) => void response.writeHead(404).end());
  const sockets = new WebSocketServer({
    server,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has('realtime') ? 'realtime' : false),
  });
  const all: Accepted[] = [];
  sockets.on('headers', (headers) => headers.push('x-request-id: req_socket'));
  sockets.on('connection', (socket, request) => {
    const accepted: Accepted = {
      socket,
      request,
      received: [],
      closed: once(socket, 'close').then(([code]) => code as number),
      send: (event) => socket.send(JSON.stringify(event)),
    };
    all.push(accepted);
    socket.on('error', () => {});
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as Frame;
      accepted.received.push(frame);
      script.frame?.(accepted, frame);
    });
    script.opened?.(accepted);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const { socket } of all) socket.terminate();
    server.close();
    await once(server, 'close');
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, all };
}

/** Collects the items of an iterable. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
