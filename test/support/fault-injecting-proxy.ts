import { createServer, type IncomingMessage, request as open, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';

/** A request to the server. */
interface ProxyRequest {
  method: string;
  /** Without its query. */
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** A response to the client. */
export interface ProxyResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** A fault that the proxy injects. */
export interface ProxyFault {
  /** Replaces the body of the request. */
  request?: (request: ProxyRequest) => string | undefined;
  /** Changes headers of the request. Undefined removes a header. */
  headers?: (request: ProxyRequest) => Record<string, string | undefined>;
  /** Replaces the query of the request, including its question mark. */
  query?: (query: string, request: ProxyRequest) => string;
  /** Whether the request gets no response. */
  hangs?: (request: ProxyRequest) => boolean;
  /** Whether the connection breaks instead of the response of the server. */
  losesResponse?: (request: ProxyRequest) => boolean;
  /** Changes the response. */
  response?: (response: ProxyResponse, request: ProxyRequest) => Partial<ProxyResponse> | undefined;
  /** Replaces an event of a socket. Undefined drops it, and a list sends several. */
  event?: (event: string) => string | readonly string[] | undefined;
  /** Whether binary frames of a socket are dropped. */
  dropsBinary?: boolean;
}

export interface FaultInjectingProxy {
  url: string;
  /** Replaces the current fault. */
  inject(fault: ProxyFault): void;
  close(): Promise<void>;
}

/** Starts a proxy that forwards everything unchanged until a fault is injected. */
export async function startFaultInjectingProxy(upstream: string): Promise<FaultInjectingProxy> {
  let fault: ProxyFault = {};
  const server = createServer((incoming, outgoing) => {
    void forward(upstream, incoming, outgoing, fault);
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
          if (binary && fault.dropsBinary === true) return;
          if (binary || fault.event === undefined) client.send(data, { binary });
          else for (const event of [fault.event(data.toString()) ?? []].flat()) client.send(event);
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
    inject(next) {
      fault = next;
    },
    async close() {
      sockets.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function forward(
  upstream: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  {
    request: changeBody,
    headers: changeHeaders,
    query: changeQuery,
    hangs,
    losesResponse,
    response: changeResponse,
  }: ProxyFault,
): Promise<void> {
  const { method = 'GET', url: target = '/', headers } = incoming;
  // A request that only announces a large body is forwarded without the body.
  const announced = Number(headers['content-length'] ?? 0) > 1024 * 1024;
  const original = announced ? '' : await textOf(incoming);
  const request: ProxyRequest = { method, path: target.split('?', 1)[0] ?? '', headers, body: original };
  const search = target.slice(request.path.length);
  const url = request.path + (changeQuery?.(search, request) ?? search);
  const others = Object.entries({ ...headers, ...changeHeaders?.(request) }).filter(
    ([, value]) => value !== undefined,
  );
  if (hangs?.(request) === true) return;
  const isLost = losesResponse?.(request) === true;
  const body = changeBody?.(request) ?? original;
  const length = announced ? {} : { 'content-length': String(Buffer.byteLength(body, 'latin1')) };
  const forwarded = open(
    upstream + url,
    { method, headers: { ...Object.fromEntries(others), ...length }, agent: false },
    (response) => {
      void textOf(response).then((text) => {
        if (isLost) {
          outgoing.destroy();
          return;
        }
        const received: ProxyResponse = {
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: text,
        };
        const {
          status,
          headers: fields,
          body: sent,
        } = { ...received, ...changeResponse?.(received, request) };
        const { 'transfer-encoding': _chunked, connection: _connection, ...rest } = fields;
        const defined = Object.fromEntries(
          Object.entries(rest).filter((head): head is [string, string | string[]] => head[1] !== undefined),
        );
        outgoing.writeHead(status, {
          ...defined,
          'content-length': String(Buffer.byteLength(sent, 'latin1')),
        });
        outgoing.end(sent, 'latin1');
      });
    },
  );
  forwarded.on('error', () => outgoing.destroy());
  if (announced) forwarded.flushHeaders();
  else forwarded.end(body, 'latin1');
}

/** Reads a stream as Latin-1, which preserves binary bytes. */
async function textOf(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('latin1');
}
