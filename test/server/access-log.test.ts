import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { realtimeScript } from '../realtime/realtime-script.ts';
import { type ConfiguredGateway, channelAt, startConfigured } from '../reload/configured-gateway.ts';
import { connect, HandshakeRefused } from '../support/socket-client.ts';
import { type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts';
import { type RecordingUpstream, startUpstream } from '../support/upstream.ts';

const embedding = {
  object: 'list',
  model: 'theta-embedding-1',
  data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
  usage: { prompt_tokens: 1, total_tokens: 1 },
};

let upstream: RecordingUpstream;
let sockets: SocketUpstream;
let target: ConfiguredGateway;
let isHeld = false;
const settings = (change: object = {}) => ({
  prices: { '*': 1 },
  channels: [
    channelAt(upstream.url, { protocol: 'embeddings', models: ['theta-*'] }),
    channelAt(upstream.url, { name: 'voice', ws_url: sockets.url.replace('http', 'ws'), models: ['alpha*'] }),
  ],
  ...change,
});
beforeAll(async () => {
  upstream = await startUpstream((_request, response) => {
    if (isHeld) return;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(embedding));
  });
  sockets = await startSocketUpstream(realtimeScript());
  target = await startConfigured(settings());
});
beforeEach(async () => {
  isHeld = false;
  await target.write(settings());
  await target.gateway.liveSettings.reload();
  target.log.length = 0;
});
afterAll(async () => {
  await target.close();
  await sockets.close();
  await upstream.close();
});

interface Line {
  level: number;
  msg: string;
  request_id: string;
  bytes: number;
  ms: number;
}

/** Returns the next line of the access log, without the figures that differ, which are checked. */
async function nextLine(): Promise<object> {
  const line = await vi.waitFor(() => {
    const lines = target.log.map((text) => JSON.parse(text) as Line);
    const found = lines.find(({ msg }) => msg === 'request completed' || msg === 'socket closed');
    expect(found).toBeDefined();
    return found as Line;
  });
  target.log.length = 0;
  const { bytes, ms, request_id: id, ...rest } = line;
  expect(id).toMatch(/^req_[0-9a-f]{32}$/);
  expect(bytes).toBeGreaterThanOrEqual(0);
  expect(ms).toBeGreaterThanOrEqual(0);
  return { ...rest, time: undefined };
}

const authorization = () => ({ authorization: `Bearer ${target.key}` });
const get = async (path: string, headers: Record<string, string> = authorization()) => {
  const reply = await fetch(target.url + path, { headers });
  return reply.arrayBuffer();
};
const embed = (signal: AbortSignal | null = null) =>
  fetch(`${target.url}/v1/embeddings`, {
    method: 'POST',
    headers: { ...authorization(), 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'theta-embedding-1', input: 'private words' }),
    signal,
  });
const completed = { level: 30, msg: 'request completed', aborted: false };

test('a request has one line with its key, route, status and size', async () => {
  const id = target.gateway.keys.getCached(target.key, '127.0.0.1')?.tokenId ?? 1;
  const body = await get(`/v1/models/theta-embedding-1?token=secret-query`);
  const line = await vi.waitFor(() => {
    const found = target.log.find((text) => text.includes('request completed'));
    expect(found).toBeDefined();
    return found ?? '';
  });
  expect(line).not.toContain('secret-query');
  expect(line).not.toContain(target.key);
  expect((JSON.parse(line) as Line).bytes).toBeGreaterThan(body.byteLength);
  expect(await nextLine()).toEqual({
    ...completed,
    key_id: id,
    method: 'GET',
    route: '/v1/models/{model}',
    operation: 'getModel',
    status: 200,
  });
});

test('a request without a valid key, and one of an unknown path, have a line', async () => {
  await get('/v1/models', { authorization: 'Bearer sk-unknown-key' });
  const refused = { method: 'GET', route: '/v1/models', operation: 'listModels', status: 401 };
  expect(await nextLine()).toEqual({ ...completed, ...refused });
  await get('/private/path?a=b');
  expect(await nextLine()).toEqual({ ...completed, method: 'GET', status: 404 });
});

test('bytes of a request are its own on a connection with several requests', async () => {
  const sizes = [];
  for (let round = 0; round < 3; round += 1) {
    await get('/v1/models');
    const line = await vi.waitFor(() => {
      const found = target.log.find((text) => text.includes('request completed'));
      expect(found).toBeDefined();
      return JSON.parse(found ?? '') as Line;
    });
    sizes.push(line.bytes);
    target.log.length = 0;
  }
  expect(new Set(sizes).size).toBe(1);
});

test('a client that disconnects before the response is logged as 499 and aborted', async () => {
  isHeld = true;
  const seen = upstream.seen.length;
  const abort = new AbortController();
  const failure = embed(abort.signal).catch((error: Error) => error.name);
  await vi.waitFor(() => expect(upstream.seen.length).toBeGreaterThan(seen));
  abort.abort();
  expect(await failure).toBe('AbortError');
  expect(await nextLine()).toMatchObject({ route: '/v1/embeddings', status: 499, aborted: true });
});

test('a socket has one line, when it closes', async () => {
  const address = `${target.url}/v1/realtime?model=alpha3-tts-flash-realtime`;
  const client = await connect(address, { key: target.key });
  client.send({ event_id: 'a', type: 'session.update', session: { voice: 'Aria', mode: 'commit' } });
  await client.next(({ type }) => type === 'session.updated');
  expect(target.log.filter((text) => text.includes('request completed'))).toEqual([]);
  client.send({ event_id: 'b', type: 'session.finish' });
  await client.closed;
  expect(await nextLine()).toMatchObject({
    level: 30,
    msg: 'socket closed',
    method: 'GET',
    route: '/api-ws/v1/realtime',
    operation: 'openRealtimeSocket',
    status: 200,
    aborted: false,
  });
  await expect(connect(address, { key: 'sk-unknown-key' })).rejects.toThrow(HandshakeRefused);
  expect(await nextLine()).toMatchObject({ ...completed, operation: 'openRealtimeSocket', status: 401 });
});

test('probes, and all requests with `access_log: false`, are logged at debug', async () => {
  await get('/healthz');
  expect(await nextLine()).toMatchObject({ level: 20, operation: 'getHealth', status: 200 });
  await target.write(settings({ access_log: false }));
  expect((await target.gateway.liveSettings.reload()).settings).toEqual(['access_log']);
  target.log.length = 0;
  await get('/v1/models');
  expect(await nextLine()).toMatchObject({ level: 20, operation: 'listModels', status: 200 });
});
