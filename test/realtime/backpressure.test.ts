import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { connect, type SocketClient } from '../support/socket-client.ts';
import { type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';
import { event, inferenceScript } from './inference-script.ts';
import { realtimeScript } from './realtime-script.ts';
import { type SocketGateway, startSocketGateway } from './start.ts';

/** More than the socket buffers of both sides hold. */
const totalBytes = 48 * 1024 * 1024;
/** Upper bound of bytes that wait in the gateway: the high water mark, one read beyond it, and a frame. */
const bound = 1024 * 1024;
const taskId = '5d2f0c3e8b7a4f169a3d2c1b0e9f8a7d';

let upstream: SocketUpstream;
let target: SocketGateway;
let client: SocketClient;
/** Most bytes that waited in a socket of the gateway, by its peer. */
let maxBuffered: { client: number; upstream: number };

beforeAll(async () => {
  upstream = await startSocketUpstream();
  target = await startSocketGateway({ channels: [channelTo(upstream.url)] });
  const { send } = WebSocket.prototype;
  vi.spyOn(WebSocket.prototype, 'send').mockImplementation(function (this: WebSocket, ...args: unknown[]) {
    Reflect.apply(send, this, args);
    const isTestSocket =
      this === client?.socket || upstream.connections.some(({ socket }) => socket === this);
    if (isTestSocket) return;
    const goesTo = this.url === undefined || this.url === '' ? 'client' : 'upstream';
    maxBuffered[goesTo] = Math.max(maxBuffered[goesTo], this.bufferedAmount);
  });
});
afterEach(async () => {
  client.socket.terminate();
  await client.closed;
  upstream.connections.length = 0;
});
afterAll(async () => {
  vi.restoreAllMocks();
  await target.close();
  await upstream.close();
});

const open = async (path: string) => {
  maxBuffered = { client: 0, upstream: 0 };
  client = await connect(target.url + path, { key: target.key });
};
const send = (id: string, type: string, fields: object = {}) =>
  client.send({ event_id: id, type, ...fields });

describe('a client that does not read', () => {
  test('pauses a realtime provider and later receives everything', async () => {
    const frames = Math.ceil(totalBytes / (64 * 1024));
    const delta = 'A'.repeat(64 * 1024);
    upstream.script = realtimeScript();
    await open('/v1/realtime?model=alpha3-tts-flash-realtime');
    await client.next(({ type }) => type === 'session.created');
    client.socket.pause();
    const [connection] = upstream.connections;
    for (let index = 0; index < frames; index += 1)
      connection?.send({ event_id: `s${index}`, type: 'response.audio.delta', delta });
    await vi.waitFor(() => expect(maxBuffered.client).toBeGreaterThan(256 * 1024), 10_000);
    expect(connection?.socket.bufferedAmount).toBeGreaterThan(0);
    client.socket.resume();
    await client.next(({ event_id: id }) => id === `s${frames - 1}`);
    expect(maxBuffered.client).toBeLessThan(bound);
    const received = client.events
      .filter(({ type }) => type === 'response.audio.delta')
      .map(({ event_id: id }) => id);
    expect(received).toEqual(Array.from({ length: frames }, (_, index) => `s${index}`));
  });

  test('pauses a duplex provider and later receives every byte', async () => {
    const frames = Math.ceil(totalBytes / (48 * 1024));
    upstream.script = inferenceScript();
    await open('/api-ws/v1/inference?model=voxa-v1');
    const parameters = { text_type: 'PlainText', voice: 'v' };
    client.send({
      header: { action: 'run-task', task_id: taskId, streaming: 'duplex' },
      payload: { task_group: 'audio', task: 'tts', function: 'SpeechSynthesizer', parameters, input: {} },
    });
    await client.next();
    client.socket.pause();
    const [connection] = upstream.connections;
    for (let index = 0; index < frames; index += 1) {
      const chunk = Buffer.alloc(48 * 1024);
      chunk.writeUInt32LE(index);
      connection?.socket.send(chunk);
    }
    connection?.send(event(taskId, 'task-finished', { usage: { characters: 1 } }));
    await vi.waitFor(() => expect(maxBuffered.client).toBeGreaterThan(256 * 1024), 10_000);
    client.socket.resume();
    await client.next();
    expect(maxBuffered.client).toBeLessThan(bound);
    expect(client.audio.map((chunk) => chunk.readUInt32LE())).toEqual(
      Array.from({ length: frames }, (_, index) => index),
    );
  });

  test('receives the last audio before the close', async () => {
    upstream.script = realtimeScript({ chunks: 40, audio: 'A'.repeat(400_000) });
    await open('/v1/realtime?model=alpha3-tts-flash-realtime');
    send('a', 'session.update', { session: { voice: 'Aria', mode: 'commit' } });
    await client.next(({ type }) => type === 'session.updated');
    client.socket.pause();
    send('b', 'input_text_buffer.append', { text: 'x' });
    send('c', 'session.finish');
    await vi.waitFor(() => expect(maxBuffered.client).toBeGreaterThan(256 * 1024), 10_000);
    client.socket.resume();
    expect((await client.closed).code).toBe(1000);
    expect(client.events.filter(({ type }) => type === 'response.audio.delta')).toHaveLength(40);
    expect(client.events.at(-1)?.type).toBe('session.finished');
  });
});

test('a provider that does not read pauses the client and later receives everything', async () => {
  const text = 'x'.repeat(20_000);
  const frames = Math.ceil(totalBytes / text.length);
  upstream.script = realtimeScript();
  await open('/v1/realtime?model=alpha3-tts-flash-realtime');
  send('a', 'session.update', { session: { voice: 'Aria', mode: 'commit' } });
  await client.next(({ type }) => type === 'session.updated');
  const [connection] = upstream.connections;
  connection?.socket.pause();
  for (let index = 0; index < frames; index += 1) send(`t${index}`, 'input_text_buffer.append', { text });
  await vi.waitFor(() => expect(maxBuffered.upstream).toBeGreaterThan(256 * 1024), 15_000);
  // If another session makes progress, this one could have, too.
  const other = await connect(`${target.url}/v1/realtime?model=alpha3-tts-flash-realtime`, {
    key: target.key,
  });
  other.send({ event_id: 'a', type: 'session.update', session: { voice: 'Aria' } });
  await other.next(({ type }) => type === 'session.updated');
  for (let index = 0; index < 100; index += 1) {
    other.send({ event_id: `o${index}`, type: 'input_text_buffer.append', text });
    await other.next(({ type }) => type === 'response.done');
  }
  other.socket.terminate();
  expect(client.socket.bufferedAmount).toBeGreaterThan(0);
  connection?.socket.resume();
  await vi.waitFor(() => expect(connection?.received).toHaveLength(frames + 1), 15_000);
  expect(maxBuffered.upstream).toBeLessThan(bound);
  expect(connection?.received.slice(1).map(({ event_id: id }) => id)).toEqual(
    Array.from({ length: frames }, (_, index) => `t${index}`),
  );
});
