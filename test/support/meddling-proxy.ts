import { createServer, type IncomingMessage, request as open, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';

/** A request on its way to the server. */
export interface Passing {
  method: string;
  /** Without its query. */
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** An answer on its way to the client. */
export interface Passed {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** What a proxy does to what passes through it. */
export interface Meddling {
  /** Another body for the request. */
  request?: (request: Passing) => string | undefined;
  /** Other headers for the request; undefined takes one out. */
  heads?: (request: Passing) => Record<string, string | undefined>;
  /** Another query for the request, with its question mark. */
  query?: (query: string, request: Passing) => string;
  /** Whether the request is never answered. */
  hangs?: (request: Passing) => boolean;
  /** Another answer. */
  answer?: (answer: Passed, request: Passing) => Partial<Passed> | undefined;
  /** Another event of a socket; undefined: none. */
  event?: (event: string) => string | undefined;
}

export interface MeddlingProxy {
  url: string;
  /** Meddles so from now on. */
  meddle(how: Meddling): void;
  close(): Promise<void>;
}

/** A proxy that passes everything on as it is, until it is told to meddle. */
export async function startMeddlingProxy(upstream: string): Promise<MeddlingProxy> {
  let meddling: Meddling = {};
  const server = createServer((incoming, outgoing) => {
    void pass(upstream, incoming, outgoing, meddling);
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (incoming, socket, head) => {
    const { authorization = '' } = incoming.headers;
    const target = new WebSocket(upstream.replace(/^http/, 'ws') + incoming.url, {
      headers: { authorization },
    });
    target.on('unexpected-response', (_request, response) => {
      socket.write(`HTTP/1.1 ${response.statusCode} No\r\n`);
      for (const [name, value] of Object.entries(response.headers))
        socket.write(`${name}: ${String(value)}\r\n`);
      socket.write('\r\n');
      response.pipe(socket);
    });
    target.on('error', () => socket.destroy());
    target.on('upgrade', () => {
      sockets.handleUpgrade(incoming, socket, head, (client) => {
        target.on('message', (data: Buffer, binary) => {
          if (binary || meddling.event === undefined) client.send(data, { binary });
          else {
            const event = meddling.event(data.toString());
            if (event !== undefined) client.send(event);
          }
        });
        target.on('close', (code, reason) =>
          code === 1006 ? client.terminate() : client.close(code, reason),
        );
        client.on('message', (data: Buffer, binary) => target.send(data, { binary }));
        client.on('close', () => target.terminate());
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    meddle(how) {
      meddling = how;
    },
    async close() {
      sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function pass(
  upstream: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { request: change, heads, query, hangs, answer: changed }: Meddling,
): Promise<void> {
  const { method = 'GET', url: asked = '/', headers } = incoming;
  // A body that is only announced is refused by its head.
  const announced = Number(headers['content-length'] ?? 0) > 1024 * 1024;
  const sent = announced ? '' : await textOf(incoming);
  const passing: Passing = { method, path: asked.split('?', 1)[0] ?? '', headers, body: sent };
  const own = asked.slice(passing.path.length);
  const url = passing.path + (query?.(own, passing) ?? own);
  const others = Object.entries({ ...headers, ...heads?.(passing) }).filter(
    ([, value]) => value !== undefined,
  );
  if (hangs?.(passing) === true) return;
  const body = change?.(passing) ?? sent;
  const length = announced ? {} : { 'content-length': String(Buffer.byteLength(body, 'latin1')) };
  const onward = open(
    upstream + url,
    { method, headers: { ...Object.fromEntries(others), ...length }, agent: false },
    (response) => {
      void textOf(response).then((text) => {
        const answer: Passed = { status: response.statusCode ?? 0, headers: response.headers, body: text };
        const { status, headers: heads, body: told } = { ...answer, ...changed?.(answer, passing) };
        const { 'transfer-encoding': _chunked, connection: _connection, ...kept } = heads;
        const shown = Object.fromEntries(
          Object.entries(kept).filter((head): head is [string, string | string[]] => head[1] !== undefined),
        );
        outgoing.writeHead(status, { ...shown, 'content-length': String(Buffer.byteLength(told, 'latin1')) });
        outgoing.end(told, 'latin1');
      });
    },
  );
  onward.on('error', () => outgoing.destroy());
  if (announced) onward.flushHeaders();
  else onward.end(body, 'latin1');
}

/** Byte for byte, so that audio passes too. */
async function textOf(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('latin1');
}
