import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { makeKey } from '../server/ledger.ts';
import { disableToken } from '../store/ledger.ts';
import { elapse, flushFrames } from '../support/manual-timers.ts';
import { connect, type SocketClient } from '../support/socket-client.ts';
import { type Frame, type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';
import { inferenceScript } from './inference-script.ts';
import { realtimeScript } from './realtime-script.ts';
import { type SocketGateway, startSocketGateway } from './start.ts';

const realtime = '/v1/realtime?model=alpha3-tts-flash-realtime';
const inference = '/api-ws/v1/inference?model=voxa-v1';

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
  upstream.connections.length = 0;
});
afterAll(async () => {
  await target.close();
  await upstream.close();
});

const open = async (path = realtime, options: { key?: string; autoPong?: boolean } = {}) => {
  upstream.script = path === realtime ? realtimeScript() : inferenceScript();
  client = await connect(target.url + path, { key: target.key, ...options });
  if (path === realtime) await client.next(({ type }) => type === 'session.created');
};
const sockets = () => [client, ...upstream.connections].map(({ socket }) => socket);
const advance = (ms: number) => elapse(target.timers, ms, sockets);
const send = (type: string, fields: object = {}) =>
  client.send({ event_id: `e${Math.random()}`, type, ...fields });
const configure = async () => {
  send('session.update', { session: { voice: 'Aria', mode: 'commit' } });
  await client.next(({ type }) => type === 'session.updated');
};

describe('an idle timeout', () => {
  test('closes a session with 1000 and the reason idle after 60 seconds without a frame', async () => {
    await open();
    await configure();
    await advance(59_000);
    expect(client.socket.readyState).toBe(client.socket.OPEN);
    await advance(1_000);
    expect(await client.closed).toEqual({ code: 1000, reason: 'idle' });
    await vi.waitFor(() => expect(upstream.connections[0]?.closeCode).toBe(1000));
  });

  test.each([
    ['the client', () => send('response.cancel')],
    [
      'the provider',
      () => upstream.connections[0]?.send({ event_id: 'x', type: 'input_text_buffer.cleared' }),
    ],
  ])('restarts with a frame of %s', async (_name, frame) => {
    await open();
    await configure();
    await advance(45_000);
    frame();
    await flushFrames(sockets());
    await advance(45_000);
    expect(client.socket.readyState).toBe(client.socket.OPEN);
    await advance(15_000);
    expect(await client.closed).toEqual({ code: 1000, reason: 'idle' });
  });

  test.each([
    ['a session.update', () => send('session.update', { session: { voice: 'Aria' } })],
    ['a finish', () => send('session.finish')],
  ])('is a failure of the provider while it must respond to %s', async (_name, request) => {
    await open();
    const connection = upstream.connections[0];
    connection?.socket.removeAllListeners('message');
    request();
    await flushFrames(sockets());
    await advance(60_000);
    expect((await client.next(({ type }) => type === 'error')).error).toMatchObject({
      type: 'api_error',
      code: 'upstream_timeout',
      message: 'The provider did not respond in time.',
    });
    expect((await client.closed).code).toBe(1011);
  });
});

describe('pings', () => {
  test.each([realtime, inference])('keep both ends alive on %s', async (path) => {
    await open(path);
    const pings = vi.fn();
    client.socket.on('ping', pings);
    await advance(45_000);
    expect(pings).toHaveBeenCalledTimes(1);
  });

  test('disconnect a client that does not answer two of them', async () => {
    await open(realtime, { autoPong: false });
    for (let beats = 1; beats <= 2; beats += 1) {
      target.timers.advance(30_000);
      upstream.connections[0]?.send({ event_id: `x${beats}`, type: 'input_text_buffer.cleared' });
      await client.next(({ event_id: id }) => id === `x${beats}`);
    }
    target.timers.advance(30_000);
    expect((await client.closed).code).toBe(1006);
  });

  test('fail the session of a provider that does not answer two of them', async () => {
    await open();
    // Simulates a dead connection: nothing is read any more.
    upstream.connections[0]?.socket.pause();
    for (let beats = 0; beats < 3; beats += 1) {
      send('response.cancel');
      await flushFrames([client.socket]);
      await elapse(target.timers, 30_000, () => [client.socket]);
    }
    expect((await client.next(({ type }) => type === 'error')).error).toMatchObject({ code: 'bad_response' });
    expect((await client.closed).code).toBe(1011);
  });
});

describe('a key', () => {
  const revoke = (token: { id: number }) => disableToken(target.gateway.store, token);

  test('that is revoked ends its session within a second: 1008', async () => {
    const token = await makeKey(target, { quota: 1000 });
    await open(realtime, { key: token.key });
    await advance(5_000);
    await revoke(token);
    await advance(1_000);
    expect((await client.next(({ type }) => type === 'error')).error).toMatchObject({
      type: 'permission_error',
      code: 'invalid_api_key',
    });
    expect((await client.closed).code).toBe(1008);
  });

  test.each([
    ['limits', `model_limits = '["voxa-*"]' where id = ?`],
    ['group', `group_name = 'nobody' where id = ?`],
  ])('whose %s no longer allow the model ends its session: access_denied and 1008', async (_, change) => {
    const token = await makeKey(target, { quota: 1000 });
    await open(realtime, { key: token.key });
    await configure();
    await advance(5_000);
    // Written directly to the database, as an operator would.
    const database = new DatabaseSync(join(target.gateway.settings.dataDir, 'unigate.db'), {
      timeout: 5_000,
    });
    database.prepare(`update tokens set ${change}`).run(token.id);
    database.close();
    await advance(1_000);
    expect((await client.next(({ type }) => type === 'error')).error).toMatchObject({
      type: 'permission_error',
      code: 'access_denied',
    });
    expect((await client.closed).code).toBe(1008);
  });

  test('that expires ends its session: 1008', async () => {
    const expiredTime = Math.floor(target.timers.now / 1_000) + 20;
    const token = await makeKey(target, { quota: 1000, expiredTime });
    await open(realtime, { key: token.key });
    await advance(15_000);
    expect(client.socket.readyState).toBe(client.socket.OPEN);
    await advance(6_000);
    expect((await client.next(({ type }) => type === 'error')).error).toMatchObject({
      code: 'invalid_api_key',
    });
    expect((await client.closed).code).toBe(1008);
  });

  test('that its user deletes ends its session and no other', async () => {
    const [token, other] = [await makeKey(target, { quota: 1000 }), await makeKey(target, { quota: 1000 })];
    await open(realtime, { key: other.key });
    const otherClient = client;
    await open(realtime, { key: token.key });
    const headers = { authorization: `Bearer ${target.key}` };
    await fetch(`${target.url}/api/token/${token.id}`, { method: 'DELETE', headers });
    await advance(1_000);
    expect((await client.closed).code).toBe(1008);
    expect(otherClient.socket.readyState).toBe(otherClient.socket.OPEN);
    otherClient.socket.terminate();
    await otherClient.closed;
  });

  test('that is revoked starts no task: InvalidApiKey and 1008', async () => {
    const token = await makeKey(target, { quota: 1000 });
    await open(inference, { key: token.key });
    await revoke(token);
    target.timers.now += 2_000;
    client.send({
      header: { action: 'run-task', task_id: '5d2f0c3e8b7a4f169a3d2c1b0e9f8a7d', streaming: 'duplex' },
      payload: {
        task_group: 'audio',
        task: 'tts',
        function: 'SpeechSynthesizer',
        parameters: { text_type: 'PlainText', voice: 'v' },
        input: {},
      },
    });
    const { header } = await client.next();
    expect((header as Frame).error_code).toBe('InvalidApiKey');
    expect((await client.closed).code).toBe(1008);
  });
});
