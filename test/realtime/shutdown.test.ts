import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { logRows } from '../server/ledger.ts';
import { connect, HandshakeRefused, type SocketClient } from '../support/socket-client.ts';
import { type Frame, type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';
import { inferenceScript } from './inference-script.ts';
import { realtimeScript } from './realtime-script.ts';
import { type SocketGateway, startSocketGateway } from './start.ts';

const realtime = '/v1/realtime?model=alpha3-tts-flash-realtime';
const inference = '/api-ws/v1/inference?model=voxa-v1';
const taskId = '5d2f0c3e8b7a4f169a3d2c1b0e9f8a7d';

let upstream: SocketUpstream;
let target: SocketGateway;
let client: SocketClient;
let closing: Promise<void>;
let done: boolean;
/** Request log when the store closes. */
let log: Awaited<ReturnType<typeof logRows>>;

beforeEach(async () => {
  upstream = await startSocketUpstream();
  target = await startSocketGateway({ channels: [channelTo(upstream.url)] });
  // The log is read right before the store closes.
  const { store } = target.gateway;
  const close = store.close.bind(store);
  store.close = async () => {
    log = await logRows(target);
    await close();
  };
});
afterEach(async () => {
  client?.socket.terminate();
  await closing;
  await upstream.close();
});

const open = async (path: string) => {
  upstream.script = path === realtime ? realtimeScript() : inferenceScript();
  client = await connect(target.url + path, { key: target.key });
};
const shutDown = (graceMs: number) => {
  done = false;
  closing = target.running.close(graceMs).then(() => {
    done = true;
  });
};
const send = (type: string, fields: object = {}) => client.send({ event_id: type, type, ...fields });
const speak = async () => {
  send('session.update', { session: { voice: 'Aria', mode: 'commit' } });
  await client.next(({ type }) => type === 'session.updated');
  send('input_text_buffer.append', { text: 'ten chars.' });
  send('input_text_buffer.commit');
  await client.next(({ type }) => type === 'response.done');
};
const frame = (action: string, payload: object) =>
  client.send({ header: { action, task_id: taskId, streaming: 'duplex' }, payload });
const run = async () => {
  const parameters = { text_type: 'PlainText', voice: 'v' };
  frame('run-task', {
    task_group: 'audio',
    task: 'tts',
    function: 'SpeechSynthesizer',
    parameters,
    input: {},
  });
  await client.next();
  frame('continue-task', { input: { text: 'ten chars.' } });
  await client.next(({ payload }) => (payload as Frame).usage !== undefined);
};

describe('a gateway that shuts down', () => {
  test('lets a session finish', async () => {
    await open(realtime);
    await speak();
    shutDown(30_000);
    send('session.finish');
    expect((await client.closed).code).toBe(1000);
    await closing;
    expect(log).toMatchObject([{ units: 10, status: 200 }]);
  });

  test('closes a session with 1001 after the grace period and settles it', async () => {
    await open(realtime);
    await speak();
    shutDown(30_000);
    target.timers.advance(29_999);
    expect(client.socket.readyState).toBe(client.socket.OPEN);
    target.timers.advance(1);
    expect((await client.next(({ type }) => type === 'error')).error).toMatchObject({
      type: 'api_error',
      code: 'service_restarting',
      message: 'The gateway is shutting down. Connect again.',
    });
    expect((await client.closed).code).toBe(1001);
    await closing;
    expect(log).toMatchObject([{ units: 10, quota: 10, status: 503, error_code: 'service_restarting' }]);
  });

  test('lets a task finish and starts no other', async () => {
    await open(inference);
    await run();
    shutDown(30_000);
    frame('finish-task', { input: {} });
    await client.next(({ header }) => (header as Frame).event === 'task-finished');
    expect((await client.closed).code).toBe(1001);
    await closing;
    expect(log).toMatchObject([{ units: 10, status: 200 }]);
  });

  test('fails a task with ServiceRestarting after the grace period', async () => {
    await open(inference);
    await run();
    shutDown(0);
    const { header } = await client.next(({ header }) => (header as Frame).event === 'task-failed');
    expect(header).toMatchObject({ task_id: taskId, error_code: 'ServiceRestarting' });
    expect((await client.closed).code).toBe(1001);
    await closing;
    expect(log).toMatchObject([{ units: 10, quota: 10, status: 503 }]);
  });

  test('closes a socket without a task at once', async () => {
    await open(inference);
    shutDown(30_000);
    expect((await client.closed).code).toBe(1001);
    expect(client.events).toEqual([]);
    await closing;
  });

  test('destroys the connection of a client that does not answer the close', async () => {
    await open(realtime);
    await client.next();
    client.socket.pause();
    shutDown(0);
    await vi.waitFor(() => {
      target.timers.advance(1_000);
      expect(done).toBe(true);
    });
  });

  test('accepts no new socket', async () => {
    await open(realtime);
    target.gateway.draining = true;
    const refused = await connect(target.url + realtime, { key: target.key }).catch(
      (error: unknown) => error,
    );
    if (!(refused instanceof HandshakeRefused)) throw new Error('the handshake was accepted');
    expect([refused.status, refused.body.error.code, refused.headers['retry-after']]).toEqual([
      503,
      'draining',
      '1',
    ]);
    shutDown(0);
    await closing;
    await expect(connect(target.url + realtime, { key: target.key })).rejects.toThrow(/ECONNREFUSED/);
  });
});
