import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { elapse, flushFrames } from '../support/manual-timers.ts';
import { connect, type SocketClient } from '../support/socket-client.ts';
import { type Script, type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';
import { realtimeScript } from './realtime-script.ts';
import { type SocketGateway, startSocketGateway } from './start.ts';

let upstream: SocketUpstream;
let target: SocketGateway;
let client: SocketClient;

beforeAll(async () => {
  upstream = await startSocketUpstream();
  target = await startSocketGateway({ channels: [channelTo(upstream.url)] });
});
afterEach(async () => {
  client.socket.terminate();
  await client.closed;
  await vi.waitFor(() => expect(target.running.sockets.size).toBe(0));
  upstream.connections.length = 0;
});
afterAll(async () => {
  await target.close();
  await upstream.close();
});

const open = async (script: Script) => {
  upstream.script = script;
  client = await connect(`${target.url}/v1/realtime?model=alpha3-tts-flash-realtime`, { key: target.key });
};
const types = () => client.events.map(({ type }) => type);
const connected = () => vi.waitFor(() => expect(upstream.connections).toHaveLength(1));

test('session.created comes first, whatever the client sends before it', async () => {
  const script = realtimeScript();
  await open({ ...script, opened: () => {} });
  client.send('{}');
  client.send({ event_id: 'a', type: 'input_text_buffer.append', text: 'x' });
  client.send({ event_id: 'b', type: 'session.update', session: { voice: 'Aria' } });
  await connected();
  await flushFrames(upstream.connections.map(({ socket }) => socket));
  expect(types()).toEqual([]);
  const [connection] = upstream.connections;
  if (connection !== undefined) script.opened?.(connection);
  await client.next(({ type }) => type === 'session.updated');
  expect(types()).toEqual(['session.created', 'error', 'error', 'session.updated']);
});

test.each([
  ['another event', '{"event_id":"u","type":"session.updated","session":{}}'],
  ['audio', `{"event_id":"u","type":"response.audio.delta","delta":"${'A'.repeat(2000)}"}`],
  ['invalid JSON', '['],
])('a first frame with %s fails the session', async (_name, frame) => {
  await open({ opened: ({ socket }) => socket.send(frame) });
  expect((await client.closed).code).toBe(1011);
  expect(client.events).toMatchObject([{ type: 'error', error: { code: 'bad_response' } }]);
});

test.each([
  ['Throttling.RateQuota', 'rate_limit_exceeded', 1013],
  ['InvalidApiKey', 'bad_response', 1011],
])('the first frame %s fails the session with %s', async (code, sent, close) => {
  await open({
    opened: (connection) => connection.send({ type: 'error', error: { code, message: 'upstream-key' } }),
  });
  expect((await client.closed).code).toBe(close);
  expect(client.events).toMatchObject([{ type: 'error', error: { code: sent } }]);
});

test('an error as the first frame is forwarded before the close', async () => {
  const error = { type: 'invalid_request_error', code: 'invalid_value', message: 'No such model.' };
  await open({ opened: (connection) => connection.send({ type: 'error', error }) });
  expect((await client.closed).code).toBe(1011);
  expect(client.events).toMatchObject([{ type: 'error', error }]);
});

test('no session.created within 60 seconds fails the session, even if the client is active', async () => {
  await open({});
  await connected();
  client.send('{}');
  await elapse(target.timers, 60_000, () => upstream.connections.map(({ socket }) => socket));
  expect((await client.closed).code).toBe(1011);
  expect(client.events).toMatchObject([{ type: 'error', error: { code: 'upstream_timeout' } }]);
});

test('a client that disconnects before session.created leaves no open socket', async () => {
  await open({});
  await connected();
  client.socket.terminate();
  await vi.waitFor(() => expect(upstream.connections[0]?.closeCode).toBe(1000));
  await vi.waitFor(() => expect(target.running.sockets.size).toBe(0));
});
