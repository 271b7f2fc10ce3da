import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Failure } from '../failure.ts';
import { failureBody } from '../http/render-failure.ts';

/** Answers a handshake as the ordinary HTTP request that it still is, and closes the connection. */
export function refuseUpgrade(
  socket: Duplex,
  requestId: string,
  error: unknown,
  headers: readonly string[] = [],
): Failure {
  const failure =
    error instanceof Failure
      ? error
      : new Failure(500, 'internal_error', 'The gateway failed to handle the request.', { cause: error });
  const { status, retryAfter } = failure;
  const body = JSON.stringify(failureBody(failure, requestId, 'generic'));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `x-request-id: ${requestId}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    ...(retryAfter === undefined ? [] : [`retry-after: ${retryAfter}`]),
    ...headers,
  ];
  socket.once('finish', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  return failure;
}
