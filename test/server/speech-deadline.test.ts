import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { type SocketGateway, startSocketGateway } from '../realtime/start.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { ledgerRows, logRows, post } from './ledger.ts';

/** Deadline of a call, in milliseconds. */
const deadlineMs = 60_000;
const native = '/api/v1/services/audio/tts/SpeechSynthesizer';
const standard = '/v1/audio/speech';
const sse = { 'X-Native-SSE': 'enable' };
const nativeBody = { model: 'voxa-v2', input: { text: 'Good morning.', voice: 'v1' } };
const body = { model: 'voxa-v2', input: 'Good morning.', voice: 'v1' };
const event = (used: number, data = 'AAAA') =>
  `data:${JSON.stringify({ output: { finish_reason: 'null', audio: { data } }, usage: { characters: used } })}\n\n`;

let upstream: RecordingUpstream;
let sockets: WebSocketServer;
let target: SocketGateway;
/** Responses of the upstream, finished or not. */
let responses: ServerResponse[] = [];
let respond: (path: string, response: ServerResponse) => void;
let run: (socket: WebSocket) => void;

beforeAll(async () => {
  upstream = await startUpstream(({ path }, response) => {
    responses.push(response);
    respond(path, response);
  });
  sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  sockets.on('connection', (socket) => socket.once('message', () => run(socket)));
  await once(sockets, 'listening');
  const wsUrl = `ws://127.0.0.1:${(sockets.address() as AddressInfo).port}`;
  target = await startSocketGateway({ channels: [channelTo(upstream.url, { wsUrl })], speechMs: deadlineMs });
});
afterEach(() => {
  responses = [];
  upstream.seen.length = 0;
});
afterAll(async () => {
  await target.close();
  await upstream.close();
  sockets.close();
});

const lastRow = async () => (await ledgerRows(target)).at(-1);
const types = { json: { 'content-type': 'application/json' }, sse: { 'content-type': 'text/event-stream' } };

/** Sends a chunk again and again until the connection closes. */
const drip = (response: ServerResponse, chunk: string) => {
  const writeNext = () => !response.destroyed && response.write(chunk, () => setImmediate(writeNext));
  writeNext();
};

describe('a slow response of a provider is aborted at the deadline without a charge:', () => {
  const expectAborted = async (call: Promise<Response>, hasStarted: boolean) => {
    if (!hasStarted) await vi.waitFor(() => expect(responses.length).toBeGreaterThan(0));
    const reply = hasStarted ? await call : undefined;
    target.timers.advance(deadlineMs - 1);
    expect(responses.some(({ destroyed }) => destroyed)).toBe(false);
    target.timers.advance(1);
    if (reply === undefined) {
      const timedOut = await call;
      expect([timedOut.status, await timedOut.json()]).toMatchObject([
        504,
        { error: { code: 'upstream_timeout' } },
      ]);
    } else {
      expect(reply.status).toBe(200);
      await expect(reply.arrayBuffer()).rejects.toThrow();
    }
    await vi.waitFor(async () => expect(await lastRow()).toMatchObject({ state: 'refunded' }));
    await vi.waitFor(() => expect(responses.at(-1)?.destroyed).toBe(true));
    expect((await logRows(target)).at(-1)).toMatchObject({ status: 504, error_code: 'upstream_timeout' });
  };
  const speak = (path: string, content: object, headers: Record<string, string> = {}) =>
    post(target.url, target.key, path, content, { headers });

  test('before it starts', async () => {
    respond = () => {};
    await expectAborted(speak(native, nativeBody), false);
  });

  test.each([
    ['native', native, nativeBody],
    ['standard', standard, body],
  ])('in the middle of a %s response', async (_name, path, content) => {
    respond = (_path, response) => {
      response.writeHead(200, types.json);
      drip(response, ' ');
    };
    await expectAborted(speak(path, content), false);
  });

  test('in the middle of a file', async () => {
    respond = (path, response) => {
      if (path === '/file') {
        response.writeHead(200, { 'content-type': 'audio/mpeg' });
        response.write(Buffer.concat([Buffer.from('ID3'), Buffer.alloc(20_000, 1)]));
        drip(response, '.');
        return;
      }
      responses.pop();
      const audio = { url: `${upstream.url}/file` };
      response.writeHead(200, types.json);
      response.end(JSON.stringify({ output: { finish_reason: 'stop', audio }, usage: { characters: 3 } }));
    };
    await expectAborted(speak(standard, { ...body, response_format: 'mp3' }), true);
  });

  test.each([
    ['native events', native, nativeBody, sse],
    ['native events of the standard route', standard, { ...body, stream: true, stream_format: 'sse' }, {}],
    ['decoded audio', standard, { ...body, stream: true }, {}],
  ] as const)('in the middle of %s', async (_name, path, content, headers) => {
    respond = (_path, response) => {
      response.writeHead(200, types.sse);
      response.write(event(3));
      drip(response, ':\n');
    };
    await expectAborted(speak(path, content, headers), true);
  });

  test('in the middle of a bridged stream', async () => {
    let isClosed = false;
    run = (socket) => {
      socket.on('close', () => {
        isClosed = true;
      });
      socket.send(Buffer.alloc(1000, 1));
    };
    const reply = await speak(standard, { ...body, model: 'voxa-v1', stream: true });
    expect(reply.status).toBe(200);
    target.timers.advance(deadlineMs);
    await expect(reply.arrayBuffer()).rejects.toThrow();
    await vi.waitFor(async () => expect(await lastRow()).toMatchObject({ state: 'refunded' }));
    await vi.waitFor(() => expect(isClosed).toBe(true));
  });
});

test('a client that stops reading until the deadline pays for the audio generated so far', async () => {
  respond = (_path, response) => {
    response.writeHead(200, types.sse);
    response.write(event(7));
    // More than all buffers hold, in chunks, so that the progress is visible.
    response.write('data:{"output":{"audio":{"data":"');
    for (let index = 0; index < 512; index += 1) response.write('A'.repeat(64 * 1024));
  };
  const { hostname, port } = new URL(target.url);
  const client = connect(Number(port), hostname);
  const content = JSON.stringify(nativeBody);
  client.write(
    `POST ${native} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${target.key}\r\nx-native-sse: enable\r\n` +
      `content-type: application/json\r\ncontent-length: ${content.length}\r\n\r\n${content}`,
  );
  await once(client, 'data');
  client.pause();
  // The buffers are full and the provider still has data to send.
  const lengths: number[] = [];
  await vi.waitFor(
    () => {
      const pendingBytes = responses[0]?.writableLength ?? 0;
      lengths.push(pendingBytes);
      expect(pendingBytes).toBeGreaterThan(0);
      expect(lengths.slice(-4)).toEqual([pendingBytes, pendingBytes, pendingBytes, pendingBytes]);
    },
    { interval: 100, timeout: 15_000 },
  );
  target.timers.advance(deadlineMs);
  await vi.waitFor(async () => expect(await lastRow()).toMatchObject({ state: 'settled', charged: 7 }));
  expect((await logRows(target)).at(-1)).toMatchObject({ status: 499 });
  client.destroy();
});

test('a call that ends in time clears its timer', async () => {
  respond = (_path, response) => {
    response.writeHead(200, types.json);
    const audio = { url: 'https://files.example/a.mp3' };
    response.end(JSON.stringify({ output: { finish_reason: 'stop', audio }, usage: { characters: 3 } }));
  };
  const reply = await post(target.url, target.key, native, nativeBody);
  expect(reply.status).toBe(200);
  target.timers.advance(deadlineMs);
  await reply.json();
  expect(await lastRow()).toMatchObject({ state: 'settled', charged: 3 });
});
