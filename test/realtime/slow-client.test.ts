import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { recordEvent } from '../support/recorded-errors.ts';
import { connect, type SocketClient } from '../support/socket-client.ts';
import { type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';
import { event, inferenceScript } from './inference-script.ts';
import { realtimeScript } from './realtime-script.ts';
import { type SocketGateway, startSocketGateway } from './start.ts';

const realtime = '/v1/realtime?model=alpha3-tts-flash-realtime';
const inference = '/api-ws/v1/inference?model=voxa-v1';
const taskId = '5d2f0c3e8b7a4f169a3d2c1b0e9f8a7d';
/** More than the socket buffers of both sides hold. */
const floodBytes = 48 * 1024 * 1024;
/** Upper bound of bytes that wait for a client: half a MiB, one read beyond it, and a frame. */
const bound = 2 * 1024 * 1024;

let upstream: SocketUpstream;
let target: SocketGateway;
let client: SocketClient;
/** Most bytes that waited in the gateway for the client. */
let maxBuffered: number;
/** Server side of the client's socket. */
let serverSocket: WebSocket | undefined;

beforeAll(async () => {
  upstream = await startSocketUpstream();
  target = await startSocketGateway({ channels: [channelTo(upstream.url)] });
  for (const name of ['send', 'pong'] as const) {
    const real = WebSocket.prototype[name];
    vi.spyOn(WebSocket.prototype, name).mockImplementation(function (this: WebSocket, ...args: unknown[]) {
      Reflect.apply(real, this, args);
      recordBuffered(this);
    });
  }
});
afterEach(async () => {
  client.socket.terminate();
  await client.closed;
  await vi.waitFor(() => expect(target.running.sockets.size).toBe(0));
  upstream.connections.length = 0;
});
afterAll(async () => {
  vi.restoreAllMocks();
  await target.close();
  await upstream.close();
});

const recordBuffered = (socket: WebSocket) => {
  // Accepted sockets have no URL, and those of the upstream are excluded.
  if (socket.url || upstream.connections.some((connection) => connection.socket === socket)) return;
  serverSocket = socket;
  maxBuffered = Math.max(maxBuffered, socket.bufferedAmount);
};
const open = async (path: string) => {
  maxBuffered = 0;
  serverSocket = undefined;
  upstream.script = path === realtime ? realtimeScript() : inferenceScript();
  client = await connect(target.url + path, { key: target.key });
  // Frames are counted, not stored, because there are very many.
  client.socket.removeAllListeners('message');
};
const next = () => new Promise<Buffer>((resolve) => client.socket.once('message', resolve));
/** Reads the args number of frames. */
const readFrames = async (frames: number) => {
  let remaining = frames;
  await new Promise<void>((resolve) => {
    client.socket.on('message', () => {
      remaining -= 1;
      if (remaining === 0) resolve();
    });
    client.socket.resume();
  });
  client.socket.removeAllListeners('message');
  client.socket.pause();
};
/** Advances the timers until the gateway gives up a client that does not read. */
const waitUntilGivenUp = async () => {
  for (let beat = 0; beat < 3; beat += 1) {
    target.timers.advance(30_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
};

describe('a client that sends and never reads', () => {
  /** The gateway answers with an error that repeats the long id, so that it sends more than it receives. */
  const frame = JSON.stringify({ event_id: 'x'.repeat(500), type: 'nonsense' });
  const frames = Math.ceil(floodBytes / frame.length);
  const flood = async () => {
    await open(realtime);
    await next();
    client.socket.pause();
    for (let index = 0; index < frames; index += 1) client.socket.send(frame);
    await vi.waitFor(() => expect(serverSocket?.isPaused).toBe(true), 15_000);
  };

  test('is paused while its responses wait, and loses none of them', {
    timeout: 60_000,
  }, async () => {
    await flood();
    expect(client.socket.bufferedAmount).toBeGreaterThan(0);
    let answers = 0;
    const all = new Promise<void>((resolve) => {
      client.socket.on('message', () => {
        answers += 1;
        if (answers === frames) resolve();
      });
    });
    client.socket.resume();
    await all;
    expect(maxBuffered).toBeLessThan(bound);
  });

  test('gets an error and 1008 after a long time without a read', { timeout: 60_000 }, async () => {
    await flood();
    await waitUntilGivenUp();
    let last = '';
    client.socket.on('message', (data: Buffer) => {
      last = data.toString();
    });
    client.socket.resume();
    expect((await client.closed).code).toBe(1008);
    const error = JSON.parse(last) as { error: { code: string } };
    recordEvent(error);
    expect(error).toMatchObject({ type: 'error', error: { code: 'client_too_slow' } });
    expect(maxBuffered).toBeLessThan(bound);
    await vi.waitFor(() => expect(upstream.connections[0]?.closeCode).toBe(1000));
  });

  test('stays connected if it reads now and then', { timeout: 60_000 }, async () => {
    await flood();
    for (let beat = 0; beat < 5; beat += 1) {
      target.timers.advance(30_000);
      // More than the system buffers, so that the gateway can send.
      await readFrames(12_000);
    }
    expect(client.socket.readyState).toBe(client.socket.OPEN);
    expect(maxBuffered).toBeLessThan(bound);
  });
});

describe.each([realtime, inference])('on %s a client that never reads', (path) => {
  test('and floods the gateway with pings is disconnected', { timeout: 60_000 }, async () => {
    await open(path);
    if (path === realtime) await next();
    client.socket.pause();
    const ping = Buffer.alloc(125);
    let failed = false;
    client.socket.on('error', () => {
      failed = true;
    });
    for (let index = 0; index < 400_000 && !failed; index += 1) {
      client.socket.ping(ping, undefined, () => {});
      if (index % 10_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await vi.waitFor(() => expect(target.running.sockets.size).toBe(0), 15_000);
    expect(maxBuffered).toBeLessThan(bound);
  });

  test('gets an error and 1008, however floodBytes its provider sends', {
    timeout: 60_000,
  }, async () => {
    await open(path);
    if (path === realtime) await next();
    else {
      const parameters = { text_type: 'PlainText', voice: 'v' };
      client.send({
        header: { action: 'run-task', task_id: taskId, streaming: 'duplex' },
        payload: { task_group: 'audio', task: 'tts', function: 'SpeechSynthesizer', parameters, input: {} },
      });
      await next();
    }
    client.socket.pause();
    const [connection] = upstream.connections;
    const audio =
      path === realtime
        ? JSON.stringify({ event_id: 's', type: 'response.audio.delta', delta: 'A'.repeat(64 * 1024) })
        : Buffer.alloc(64 * 1024);
    for (let sent = 0; sent < floodBytes; sent += audio.length) connection?.socket.send(audio);
    connection?.send(event(taskId, 'result-generated', {}));
    await vi.waitFor(() => expect(maxBuffered).toBeGreaterThan(256 * 1024), 15_000);
    await waitUntilGivenUp();
    await vi.waitFor(() => expect(connection?.closeCode).toBeDefined(), 15_000);
    expect(maxBuffered).toBeLessThan(bound);
    let last: Buffer = Buffer.alloc(0);
    client.socket.on('message', (data: Buffer) => {
      last = data;
    });
    client.socket.resume();
    expect((await client.closed).code).toBe(1008);
    expect(last.toString()).toContain('did not read its connection for too long');
  });
});
