import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { connect, type SocketClient } from '../support/socket-client.ts';
import { type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';
import { event, inferenceScript } from './inference-script.ts';
import { realtimeScript } from './realtime-script.ts';
import { type SocketGateway, startSocketGateway } from './start.ts';

/** More than the systems' buffers on both ways take in. */
const much = 48 * 1024 * 1024;
/** What may wait in the gateway: the high water mark, what one read brought beyond it, and a frame. */
const bound = 1024 * 1024;
const taskId = '5d2f0c3e8b7a4f169a3d2c1b0e9f8a7d';

let upstream: SocketUpstream;
let target: SocketGateway;
let client: SocketClient;
/** The most that waited in a socket of the gateway, by whom it was going to. */
let most: { client: number; upstream: number };

beforeAll(async () => {
  upstream = await startSocketUpstream();
  target = await startSocketGateway({ channels: [channelTo(upstream.url)] });
  const { send } = WebSocket.prototype;
  vi.spyOn(WebSocket.prototype, 'send').mockImplementation(function (this: WebSocket, ...given: unknown[]) {
    Reflect.apply(send, this, given);
    const theirs = this === client?.socket || upstream.connections.some(({ socket }) => socket === this);
    if (theirs) return;
    const goesTo = this.url === undefined || this.url === '' ? 'client' : 'upstream';
    most[goesTo] = Math.max(most[goesTo], this.bufferedAmount);
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
  most = { client: 0, upstream: 0 };
  client = await connect(target.url + path, { key: target.key });
};
const send = (id: string, type: string, fields: object = {}) =>
  client.send({ event_id: id, type, ...fields });

describe('a client that does not read', () => {
  test('holds a realtime provider back, and gets everything in the end', async () => {
    const frames = Math.ceil(much / (64 * 1024));
    const delta = 'A'.repeat(64 * 1024);
    upstream.script = realtimeScript();
    await open('/v1/realtime?model=alpha3-tts-flash-realtime');
    await client.next(({ type }) => type === 'session.created');
    client.socket.pause();
    const [connection] = upstream.connections;
    for (let index = 0; index < frames; index += 1)
      connection?.send({ event_id: `s${index}`, type: 'response.audio.delta', delta });
    await vi.waitFor(() => expect(most.client).toBeGreaterThan(256 * 1024), 10_000);
    expect(connection?.socket.bufferedAmount).toBeGreaterThan(0);
    client.socket.resume();
    await client.next(({ event_id: id }) => id === `s${frames - 1}`);
    expect(most.client).toBeLessThan(bound);
    const got = client.events
      .filter(({ type }) => type === 'response.audio.delta')
      .map(({ event_id: id }) => id);
    expect(got).toEqual(Array.from({ length: frames }, (_, index) => `s${index}`));
  });

  test('holds a duplex provider back, and gets every byte in the end', async () => {
    const frames = Math.ceil(much / (48 * 1024));
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
      const piece = Buffer.alloc(48 * 1024);
      piece.writeUInt32LE(index);
      connection?.socket.send(piece);
    }
    connection?.send(event(taskId, 'task-finished', { usage: { characters: 1 } }));
    await vi.waitFor(() => expect(most.client).toBeGreaterThan(256 * 1024), 10_000);
    client.socket.resume();
    await client.next();
    expect(most.client).toBeLessThan(bound);
    expect(client.audio.map((piece) => piece.readUInt32LE())).toEqual(
      Array.from({ length: frames }, (_, index) => index),
    );
  });

  test('gets the last audio before the close', async () => {
    upstream.script = realtimeScript({ pieces: 40, audio: 'A'.repeat(400_000) });
    await open('/v1/realtime?model=alpha3-tts-flash-realtime');
    send('a', 'session.update', { session: { voice: 'Aria', mode: 'commit' } });
    await client.next(({ type }) => type === 'session.updated');
    client.socket.pause();
    send('b', 'input_text_buffer.append', { text: 'x' });
    send('c', 'session.finish');
    await vi.waitFor(() => expect(most.client).toBeGreaterThan(256 * 1024), 10_000);
    client.socket.resume();
    expect((await client.closed).code).toBe(1000);
    expect(client.events.filter(({ type }) => type === 'response.audio.delta')).toHaveLength(40);
    expect(client.events.at(-1)?.type).toBe('session.finished');
  });
});

test('a provider that does not read holds the client back, and gets everything in the end', async () => {
  const text = 'x'.repeat(20_000);
  const frames = Math.ceil(much / text.length);
  upstream.script = realtimeScript();
  await open('/v1/realtime?model=alpha3-tts-flash-realtime');
  send('a', 'session.update', { session: { voice: 'Aria', mode: 'commit' } });
  await client.next(({ type }) => type === 'session.updated');
  const [connection] = upstream.connections;
  connection?.socket.pause();
  for (let index = 0; index < frames; index += 1) send(`t${index}`, 'input_text_buffer.append', { text });
  await vi.waitFor(() => expect(most.upstream).toBeGreaterThan(256 * 1024), 15_000);
  // What another session does meanwhile, this one could have done as well.
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
  expect(most.upstream).toBeLessThan(bound);
  expect(connection?.received.slice(1).map(({ event_id: id }) => id)).toEqual(
    Array.from({ length: frames }, (_, index) => `t${index}`),
  );
});
