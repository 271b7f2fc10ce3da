import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request as plain } from 'node:http';
import { request as secure } from 'node:https';
import type { DocumentedOperation } from '../contract/documented.ts';
import { pathOf, type Variation } from './exchange.ts';
import type { HttpResponse, Target } from './http-response.ts';

type RequestHeaders = Readonly<Record<string, string | undefined>>;

/** Sends the head of a request with a `content-length` of `size` bytes, without the body. */
export const announceBody = (
  target: Target,
  operation: DocumentedOperation,
  size: number,
  signal?: AbortSignal,
): Promise<HttpResponse> =>
  sendHead(target, operation, pathOf(operation), signal, {
    authorization: `Bearer ${target.key}`,
    'content-type': 'application/json',
    'content-length': String(size),
  });

/** Requests a WebSocket upgrade and disconnects after the response, which is a 101 or an error. */
export const requestUpgrade = (
  target: Target,
  operation: DocumentedOperation,
  variation: Variation = {},
  signal?: AbortSignal,
): Promise<HttpResponse> =>
  sendHead(target, operation, pathOf(operation, variation), signal, {
    authorization: `Bearer ${target.key}`,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
    ...variation.headers,
  });

/** Sends only the head of a request, which `fetch` cannot do. */
function sendHead(
  target: Target,
  operation: DocumentedOperation,
  path: string,
  signal: AbortSignal | undefined,
  fields: RequestHeaders,
): Promise<HttpResponse> {
  return new Promise<HttpResponse>((resolve, reject) => {
    const headers = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
    const open = target.url.startsWith('https:') ? secure : plain;
    const request = open(target.url + path, {
      method: operation.method,
      headers,
      agent: false,
      ...(signal !== undefined && { signal }),
    });
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve(responseOf(response, []));
    });
    request.on('response', (response) => {
      response.on('error', reject);
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        resolve(responseOf(response, chunks));
        request.destroy();
      });
    });
    request.on('error', reject);
    request.flushHeaders();
  });
}

function responseOf({ statusCode = 0, headersDistinct }: IncomingMessage, chunks: Buffer[]): HttpResponse {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  return { status: statusCode, headers, body: Buffer.concat(chunks) };
}
