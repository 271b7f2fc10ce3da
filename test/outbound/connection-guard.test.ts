import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { guardConnections } from '../../server/outbound/connection-guard.ts';
import type { Resolve } from '../../server/outbound/open-url.ts';

let server: Server;
let port: number;
let removeGuard = () => {};

beforeEach(async () => {
  server = createServer((_request, response) => response.end('reached'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterEach(() => {
  removeGuard();
  server.closeAllConnections();
  server.close();
});

/** Resolves every name to loopback. */
const toLoopback: Resolve = (_name, _options, callback) =>
  callback(null, [{ address: '127.0.0.1', family: 4 }]);

const causeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => '',
    ({ cause }: Error & { cause: Error }) => cause.message,
  );

const get = (host: string) => fetch(`http://${host}:${port}`, { headers: { connection: 'close' } });

test('allows an exempt address and refuses other private ones', async () => {
  removeGuard = guardConnections(new Set([`127.0.0.1:${port}`]), toLoopback);
  expect(await (await get('127.0.0.1')).text()).toBe('reached');
  expect(await causeOf(get('127.0.0.2'))).toContain('127.0.0.2 is not a public address');
  expect(await causeOf(fetch('http://127.0.0.1:81'))).toContain('is not a public address');
  expect(await causeOf(fetch('http://[::1]:81'))).toContain('::1 is not a public address');
});

test('refuses a name that resolves to a private address, and a redirect to one', async () => {
  removeGuard = guardConnections(new Set([`127.0.0.1:${port}`]), toLoopback);
  expect(await causeOf(get('files.example'))).toContain('files.example is not a public address');
  server.removeAllListeners('request');
  server.on('request', (_request, response) =>
    response.writeHead(302, { location: 'http://127.0.0.2/' }).end(),
  );
  expect(await causeOf(get('127.0.0.1'))).toContain('127.0.0.2 is not a public address');
});

test('covers sockets, encrypted connections and local sockets', async () => {
  removeGuard = guardConnections(new Set(), toLoopback);
  const [error] = await once(new WebSocket(`ws://files.example:${port}`), 'error');
  expect(error).toMatchObject({ name: 'PrivateAddressError' });
  const [secure] = await once(new WebSocket(`wss://127.0.0.1:${port}`), 'error');
  expect(secure).toMatchObject({ name: 'PrivateAddressError' });
  const [local] = await once(connect('/tmp/service.sock'), 'error');
  expect(local).toMatchObject({ name: 'PrivateAddressError' });
  const [byPort] = await once(connect(port, '127.0.0.1'), 'error');
  expect(byPort).toMatchObject({ name: 'PrivateAddressError' });
});
