import { connect as connectNet } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { Unigate } from '../../client/index.ts';
import type { RealtimeError } from '../../generated/events.ts';
import { makeKey } from '../server/ledger.ts';
import {
  type ConnectOptions,
  connect,
  HandshakeRefused,
  type SocketClient,
} from '../support/socket-client.ts';
import { type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';
import { realtimeScript } from './realtime-script.ts';
import { type SocketGateway, startSocketGateway } from './start.ts';

const realtime = '/api-ws/v1/realtime?model=alpha3-tts-flash-realtime';
const alias = '/v1/realtime?model=alpha3-tts-flash-realtime';
const inference = '/api-ws/v1/inference?model=voxa-v1';

let upstream: SocketUpstream;
let target: SocketGateway;
const clients: SocketClient[] = [];

beforeAll(async () => {
  upstream = await startSocketUpstream(realtimeScript());
  target = await startSocketGateway({
    channels: [
      channelTo(upstream.url, {
        models: [
          { id: 'alpha*', upstream: undefined },
          { id: 'voxa-v1', upstream: undefined },
        ],
      }),
      channelTo(upstream.url, {
        name: 'other',
        models: [{ id: 'voxa-v2', upstream: undefined }],
        groups: ['none'],
      }),
    ],
    groups: { default: { models: ['*'], ratio: 1 }, none: { models: ['voxa-*'], ratio: 1 } },
    limits: { bodyMb: 64, requestsPerMinute: 0, socketsPerKey: 2 },
  });
});
afterEach(async () => {
  for (const client of clients.splice(0)) {
    client.socket.terminate();
    await client.closed;
  }
});
afterAll(async () => {
  await target.close();
  await upstream.close();
});

const open = async (path: string, options: ConnectOptions = { key: target.key }) => {
  const client = await connect(target.url + path, options);
  clients.push(client);
  return client;
};
const refused = async (path: string, options?: ConnectOptions): Promise<HandshakeRefused> => {
  const failure = await open(path, options).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof HandshakeRefused)) throw new Error(`not refused: ${String(failure)}`);
  expect(failure.headers['x-request-id']).toMatch(/^req_[0-9a-f]{32}$/);
  expect(failure.body.error.request_id).toBe(failure.headers['x-request-id']);
  expect(failure.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(failure.headers.connection).toBe('close');
  return failure;
};

describe('an accepted handshake', () => {
  test.each([
    realtime,
    alias,
    `${alias}&unknown=1`,
    inference,
    '/api-ws/v1/realtime/?model=alpha-tts-realtime',
  ])('%s', async (path) => {
    const client = await open(path);
    expect(client.headers['x-request-id']).toMatch(/^req_[0-9a-f]{32}$/);
    expect(client.headers['sec-websocket-extensions']).toBeUndefined();
  });

  test.each([
    ['openai-insecure-api-key', ['realtime', 'openai-insecure-api-key.KEY'], 'realtime'],
    ['any other prefix', ['x-insecure-api-key.KEY', 'realtime', 'beta.1'], 'realtime'],
  ])('never echoes the key in the subprotocols, with %s', async (_name, offered, chosen) => {
    const protocols = offered.map((one) => one.replace('KEY', target.key));
    const client = await open(realtime, { protocols });
    expect(client.socket.protocol).toBe(chosen);
    expect(JSON.stringify(client.headers)).not.toContain(target.key);
    await client.next(({ type }) => type === 'session.created');
  });

  test('selects the subprotocol realtime with an authorization header, too', async () => {
    const client = await open(realtime, { key: target.key, protocols: ['realtime'] });
    expect(client.socket.protocol).toBe('realtime');
  });

  test('uses the slot of a closed socket of the same key', async () => {
    const { key } = await makeKey(target, { quota: 10 });
    const first = await open(realtime, { key });
    await open(inference, { key });
    const failure = await refused(realtime, { key });
    expect([failure.status, failure.body.error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(failure.headers['retry-after']).toBe('1');
    // Another key has its own slots.
    await open(realtime);
    first.socket.close();
    await first.closed;
    await vi.waitFor(() => open(realtime, { key }));
  });
});

describe('a page with an invalid key', () => {
  test.each([realtime, alias])('reads why %s closes', async (path) => {
    const client = await open(path, { protocols: ['realtime', 'openai-insecure-api-key.sk-wrong'] });
    const { error } = (await client.next(({ type }) => type === 'error')) as unknown as RealtimeError;
    expect(error).toEqual({
      type: 'permission_error',
      code: 'invalid_api_key',
      message: expect.stringMatching(/unknown/),
      param: null,
      event_id: null,
    });
    expect(JSON.stringify(error)).not.toContain('sk-wrong');
    expect(await client.closed).toMatchObject({ code: 4401, reason: 'invalid_api_key' });
  });

  test('that was revoked reads the same, and opens no session', async () => {
    const { key, id } = await makeKey(target, { quota: 10 });
    const before = upstream.connections.length;
    const gone = await fetch(`${target.url}/api/token/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${target.key}` },
    });
    expect(gone.status).toBe(200);
    const client = await open(realtime, { protocols: ['realtime', `openai-insecure-api-key.${key}`] });
    expect((await client.closed).code).toBe(4401);
    expect(upstream.connections.length).toBe(before);
  });

  test('gets an error of the client that names the code', async () => {
    const client = new Unigate({ baseUrl: target.url, apiKey: 'sk-wrong', webSocket: WebSocket });
    const session = await client.realtime('alpha3-tts-flash-realtime');
    const error = await session.update({ voice: 'Aria' }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'RealtimeError', code: 'invalid_api_key' });
  });
});

describe('a refused handshake', () => {
  test.each([
    ['without a key', realtime, {}, 401, 'invalid_api_key', /authorization/],
    ['with a wrong key', realtime, { key: 'sk-wrong' }, 401, 'invalid_api_key', /unknown/],
    [
      'with no key in the subprotocols',
      realtime,
      { protocols: ['realtime'] },
      401,
      'invalid_api_key',
      /subprotocol/,
    ],
  ] as const)('%s', async (_name, path, options, status, code, message) => {
    const failure = await refused(path, {
      ...options,
      ...('protocols' in options ? { protocols: [...options.protocols] } : {}),
    } as ConnectOptions);
    expect([failure.status, failure.body.error.code]).toEqual([status, code]);
    expect(failure.body.error.message).toMatch(message);
  });

  test.each(['valid', 'wrong'])('the duplex socket accepts no %s key in a subprotocol', async (kind) => {
    const key = kind === 'valid' ? target.key : 'sk-wrong';
    const failure = await refused(inference, { protocols: ['realtime', `x-insecure-api-key.${key}`] });
    expect([failure.status, failure.body.error.code]).toEqual([401, 'invalid_api_key']);
  });

  test('a model that does not exist, with a valid key in a subprotocol', async () => {
    const protocols = ['realtime', `openai-insecure-api-key.${target.key}`];
    expect((await refused('/v1/realtime?model=nope', { protocols })).status).toBe(404);
  });

  test('two different keys', async () => {
    const failure = await refused(realtime, {
      key: target.key,
      protocols: ['realtime', 'x-insecure-api-key.sk-2'],
    });
    expect(failure.status).toBe(401);
  });

  test.each([
    ['no model', '/v1/realtime', 400, 'invalid_request', /^model: is required/],
    ['an empty model', '/v1/realtime?model=', 400, 'invalid_request', /^model: is required/],
    ['two models', `${realtime}&model=x`, 400, 'invalid_request', /^model: must be sent once/],
    ['a long model', `/v1/realtime?model=${'x'.repeat(201)}`, 400, 'invalid_request', /^model: .*200/],
    ['an unknown model', '/v1/realtime?model=nope', 404, 'model_not_found', /"nope"/],
    [
      'an HTTP model',
      '/v1/realtime?model=alpha3-tts-flash',
      400,
      'invalid_request',
      /not served on this route/,
    ],
    [
      'a realtime model',
      '/api-ws/v1/inference?model=alpha-tts-realtime',
      400,
      'invalid_request',
      /use the socket \/api-ws\/v1\/realtime/,
    ],
    ['a duplex model', '/v1/realtime?model=voxa-v1', 400, 'invalid_request', /use .*\/api-ws\/v1\/inference/],
    [
      'a model without a channel',
      '/api-ws/v1/inference?model=voxa-v3-flash',
      503,
      'model_not_found',
      /No channel/,
    ],
    ["another group's channel", '/api-ws/v1/inference?model=voxa-v2', 503, 'model_not_found', /No channel/],
  ] as const)('%s', async (_name, path, status, code, message) => {
    const failure = await refused(path);
    expect([failure.status, failure.body.error.code]).toEqual([status, code]);
    expect(failure.body.error.message).toMatch(message);
  });

  test('a model that the key may not use', async () => {
    const { key } = await makeKey(target, { quota: 10, group: 'none' });
    const failure = await refused(realtime, { key });
    expect([failure.status, failure.body.error.code]).toEqual([403, 'access_denied']);
  });

  test.each([
    ['another version', { 'sec-websocket-version': '7' }, /Version/],
    ['an invalid sec-websocket-key', { 'sec-websocket-key': 'short' }, /Key/],
    ['broken subprotocols', { 'sec-websocket-protocol': 'realtime,,' }, /Protocol/],
  ])('%s', async (_name, headers, message) => {
    const { status, text } = await rawHandshake(headers);
    expect(status).toBe(400);
    expect(text).toMatch(/x-request-id: req_/);
    expect(text).toMatch(/sec-websocket-version: 13/);
    expect(JSON.parse(text.slice(text.indexOf('{'))).error.message).toMatch(message);
  });
});

test('a model with a control character and a second host are refused', async () => {
  const model = await refused('/api-ws/v1/realtime?model=alpha%003', { key: target.key });
  expect([model.status, model.body.error.message]).toEqual([
    400,
    expect.stringMatching(/^model: must not contain control characters/),
  ]);
  const hosts = await rawHandshake({ Host: 'y' });
  expect([hosts.status, hosts.text]).toEqual([400, expect.stringContaining('host: must be sent once.')]);
});

/** Sends a handshake that a valid client would not send. */
function rawHandshake(
  change: Record<string, string>,
  path = realtime,
): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(target.url);
  const headers = {
    host: 'x',
    connection: 'upgrade',
    upgrade: 'websocket',
    authorization: `Bearer ${target.key}`,
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...change,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve, reject) => {
    const socket = connectNet(Number(port), hostname, () => {
      socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
    });
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (text.includes('}}')) socket.end();
    });
    socket.on('close', () => resolve({ status: Number(text.split(' ')[1]), text }));
    socket.on('error', reject);
  });
}

describe('a request without a handshake', () => {
  test.each([realtime, alias, inference])('plain GET %s gets 426', async (path) => {
    const reply = await fetch(target.url + path, { headers: { authorization: `Bearer ${target.key}` } });
    expect(reply.status).toBe(426);
    expect(reply.headers.get('upgrade')).toBe('websocket');
    expect(await reply.json()).toEqual({
      error: {
        code: 'upgrade_required',
        message: expect.any(String),
        request_id: reply.headers.get('x-request-id'),
      },
    });
  });

  test('a plain GET is authenticated and validated first', async () => {
    expect((await fetch(target.url + realtime)).status).toBe(401);
    const reply = await fetch(`${target.url}/v1/realtime`, {
      headers: { authorization: `Bearer ${target.key}` },
    });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { message: 'model: is required.' } });
  });

  test('an upgrade to another protocol is ignored', async () => {
    expect((await rawHandshake({ upgrade: 'h2c' })).status).toBe(426);
  });

  test('an upgrade of a path without a socket gets the HTTP response', async () => {
    expect((await rawHandshake({}, '/v1/nothing')).status).toBe(404);
    expect((await rawHandshake({}, '/v1/audio/speech')).status).toBe(405);
  });
});
