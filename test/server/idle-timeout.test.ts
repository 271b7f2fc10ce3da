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

/** A server that allows but little silence, and a connection to it that has sent something. */
const connection = async (
  sent: string,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
) => {
  const begin = startRequest({ clock: Date.now, timers: systemTimers });
  server = createServer((request, response) => {
    // Only now, since a connection without any request may be cut off at once.
    request.socket.setTimeout(30);
    // What Express adds to the two is not asked for here.
    begin(request as Request, response as Response, () => handle(request, response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write(sent);
  return client;
};
const get = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

test('a client that waits for an answer is not cut off, however long it takes', async () => {
  const socket = await connection(get, (request, response) => {
    // The silence has been noticed by then. Listened for here, since a listener of the answer would change what follows.
    request.socket.once('timeout', () => setImmediate(() => response.end('late, but here')));
  });
  const [data] = (await once(socket, 'data')) as [Buffer];
  expect(data.toString('utf8')).toContain('late, but here');
});

test('a client that does not send what it announced is cut off', async () => {
  const socket = await connection('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n12345', () => {});
  await once(socket, 'close');
});

test('a client that does not read is cut off', async () => {
  const answered = Promise.withResolvers<ServerResponse>();
  const socket = await connection(get, (_request, response) => {
    response.write(Buffer.alloc(48 * 1024 * 1024));
    answered.resolve(response);
  });
  socket.pause();
  const response = await answered.promise;
  await once(response, 'close');
  expect(response.writableFinished).toBe(false);
});
