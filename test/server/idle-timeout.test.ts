import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Request, Response } from 'express';
import { afterEach, expect, test } from 'vitest';
import { startRequest } from '../../server/http/request-context.ts';
import { systemTimers } from '../../server/lib/timers.ts';

let server: Server | undefined;
let client: Socket | undefined;
afterEach(() => {
  client?.destroy();
  server?.closeAllConnections();
  server?.close();
});

/** Starts a server with a short idle timeout, and opens a connection that sends `sent`. */
const openConnection = async (
  sent: string,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
) => {
  const begin = startRequest({ clock: Date.now, timers: systemTimers });
  server = createServer((request, response) => {
    // Set here, because the timeout must not close a connection without a request.
    request.socket.setTimeout(30);
    // This test needs no Express properties of the request and response.
    begin(request as Request, response as Response, () => handle(request, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write(sent);
  return client;
};
const get = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

test('a client that waits for a slow response is not disconnected', async () => {
  const socket = await openConnection(get, (request, response) => {
    // The timeout fires before the response. A listener on the response would change the behavior.
    request.socket.once('timeout', () => setImmediate(() => response.end('late, but here')));
  });
  const [data] = (await once(socket, 'data')) as [Buffer];
  expect(data.toString('utf8')).toContain('late, but here');
});

test('a client that does not send its announced body is disconnected', async () => {
  const socket = await openConnection(
    'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n12345',
    () => {},
  );
  await once(socket, 'close');
});

test('a client that does not read is disconnected', async () => {
  const handled = Promise.withResolvers<ServerResponse>();
  const socket = await openConnection(get, (_request, response) => {
    response.write(Buffer.alloc(48 * 1024 * 1024));
    handled.resolve(response);
  });
  socket.pause();
  const response = await handled.promise;
  await once(response, 'close');
  expect(response.writableFinished).toBe(false);
});
