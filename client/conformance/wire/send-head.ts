import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request as plain } from 'node:http';
import { request as secure } from 'node:https';
import type { DocumentedOperation } from '../contract/documented.ts';
import type { Answer, Target } from './answer.ts';
import { pathOf, type Variation } from './exchange.ts';

type Heads = Readonly<Record<string, string | undefined>>;

/** Sends the head of a request that announces a body of `size` bytes, and none of the body. */
export const announceBody = (
  target: Target,
  operation: DocumentedOperation,
  size: number,
  signal?: AbortSignal,
): Promise<Answer> =>
  sendHead(target, operation, pathOf(operation), signal, {
    authorization: `Bearer ${target.key}`,
    'content-type': 'application/json',
    'content-length': String(size),
  });

/** Asks for a WebSocket and leaves as soon as the answer is there: 101, or the refusal with its body. */
export const shakeHands = (
  target: Target,
  operation: DocumentedOperation,
  variation: Variation = {},
  signal?: AbortSignal,
): Promise<Answer> =>
  sendHead(target, operation, pathOf(operation, variation), signal, {
    authorization: `Bearer ${target.key}`,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
    ...variation.headers,
  });

/** The part of HTTP that `fetch` does not do. */
function sendHead(
  target: Target,
  operation: DocumentedOperation,
  path: string,
  signal: AbortSignal | undefined,
  heads: Heads,
): Promise<Answer> {
  return new Promise<Answer>((resolve, reject) => {
    const headers = Object.fromEntries(Object.entries(heads).filter(([, value]) => value !== undefined));
    const open = target.url.startsWith('https:') ? secure : plain;
    const request = open(target.url + path, {
      method: operation.method,
      headers,
      agent: false,
      ...(signal !== undefined && { signal }),
    });
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve(answerOf(response, []));
    });
    request.on('response', (response) => {
      response.on('error', reject);
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        resolve(answerOf(response, chunks));
        request.destroy();
      });
    });
    request.on('error', reject);
    request.flushHeaders();
  });
}

function answerOf({ statusCode = 0, headersDistinct }: IncomingMessage, chunks: Buffer[]): Answer {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  return { status: statusCode, headers, body: Buffer.concat(chunks) };
}
