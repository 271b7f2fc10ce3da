import { once } from 'node:events';
import { connect as openConnection } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { ManualTimers } from '../support/manual-timers.ts';
import { connect } from '../support/socket-client.ts';

let target: TestGateway;
beforeAll(async () => {
  target = await startTestGateway();
});
afterAll(() => target.close());

test('a draining gateway is not ready and refuses sockets', async () => {
  const ready = async () => {
    const reply = await fetch(`${target.url}/readyz`);
    return [reply.status, reply.headers.get('retry-after')];
  };
  const open = (path: string, model: string) =>
    connect(`${target.url}/api-ws/v1/${path}?model=${model}`, { key: target.key });
  expect((await ready())[0]).toBe(200);
  target.gateway.draining = true;
  expect(await ready()).toEqual([503, '1']);
  for (const [path, model] of [
    ['realtime', 'alpha3-tts-flash-realtime'],
    ['inference', 'voxa-v2'],
  ] as const) {
    await expect(open(path, model)).rejects.toMatchObject({
      status: 503,
      body: { error: { code: 'draining' } },
    });
  }
  // Refused before authentication, so the key is missing.
  const anonymous = connect(`${target.url}/api-ws/v1/inference?model=voxa-v2`);
  await expect(anonymous).rejects.toMatchObject({ status: 503 });
  target.gateway.draining = false;
  expect((await ready())[0]).toBe(200);
});

test('a gateway that starts to drain during a handshake refuses the socket', async () => {
  const { gateway } = target;
  const { require } = gateway.access;
  // The key has been checked at this point.
  gateway.access.require = (...args) => {
    require.apply(gateway.access, args);
    gateway.draining = true;
  };
  try {
    await expect(
      connect(`${target.url}/api-ws/v1/inference?model=voxa-v2`, { key: target.key }),
    ).rejects.toMatchObject({ status: 503 });
  } finally {
    gateway.access.require = require;
    gateway.draining = false;
  }
});

test('during the stop delay the gateway accepts requests and sockets but is not ready', async () => {
  const timers = new ManualTimers();
  const stopping = await startTestGateway({ stopDelayMs: 3_000 }, 'sqlite', Date.now, undefined, timers);
  const ready = async () => {
    const { status, headers } = await fetch(`${stopping.url}/readyz`);
    return [status, headers.get('retry-after')];
  };
  expect(await ready()).toEqual([200, null]);
  const closing = stopping.close();
  expect(await ready()).toEqual([503, '1']);
  timers.advance(2_999);
  expect(await ready()).toEqual([503, '1']);
  const socket = await connect(`${stopping.url}/api-ws/v1/inference?model=voxa-v2`, { key: stopping.key });
  socket.socket.terminate();
  await socket.closed;
  timers.advance(1);
  await closing;
  await expect(ready()).rejects.toThrow('fetch failed');
});

test('a request that arrives while the gateway stops is answered, and its connection is closed', async () => {
  const stopping = await startTestGateway();
  const { hostname, port } = new URL(stopping.url);
  const socket = openConnection({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  // The gateway has accepted the connection and has received no request.
  await fetch(`${stopping.url}/healthz`);
  socket.write(`GET /healthz HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
  const closing = stopping.close();
  const response = await text(socket);
  expect(response).toMatch(/^HTTP\/1\.1 200 /);
  expect(response).toMatch(/^connection: close\r$/im);
  await closing;
});

test('a stopping gateway refuses handshakes on open connections', async () => {
  const stopping = await startTestGateway();
  const { hostname, port } = new URL(stopping.url);
  const socket = openConnection({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  // The gateway closes idle connections at once, so this one starts a request.
  socket.write(`GET /api-ws/v1/inference?model=voxa-v2 HTTP/1.1\r\nhost: ${hostname}\r\n`);
  await fetch(`${stopping.url}/healthz`);
  const closing = stopping.close();
  await vi.waitFor(() => expect(fetch(`${stopping.url}/healthz`)).rejects.toThrow('fetch failed'));
  const upgrade = ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'];
  const key = [`authorization: Bearer ${stopping.key}`, 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=='];
  socket.write([...upgrade, ...key, '', ''].join('\r\n'));
  const response = await text(socket);
  expect(response).toMatch(/^HTTP\/1\.1 503 /);
  expect(response).toContain('"code":"draining"');
  await closing;
});
