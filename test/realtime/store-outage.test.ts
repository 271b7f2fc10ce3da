import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ledgerRows, makeKey, remainingQuota } from '../server/ledger.ts';
import { DatabaseProxy } from '../store/database-proxy.ts';
import { engines } from '../store/engines.ts';
import { connect, HandshakeRefused, type SocketClient } from '../support/socket-client.ts';
import { type Frame, type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';
import { makeDatabase, type TestDatabase } from './database.ts';
import { inferenceScript } from './inference-script.ts';
import { realtimeScript } from './realtime-script.ts';
import { type SocketGateway, startSocketGateway } from './start.ts';

const quota = 10_000;
/** Exceeds the reserved step, so it needs the database. */
const longText = 'Nine char'.repeat(100);

describe.runIf(engines.includes('postgres'))('sockets of a gateway whose database is unavailable', () => {
  let database: TestDatabase;
  let proxy: DatabaseProxy;
  let upstream: SocketUpstream;
  let target: SocketGateway;
  let token: { key: string; id: number };
  let client: SocketClient | undefined;

  beforeAll(async () => {
    database = await makeDatabase('postgres');
    proxy = await DatabaseProxy.start(database.url);
    upstream = await startSocketUpstream();
    target = await startSocketGateway({ databaseUrl: proxy.url, channels: [channelTo(upstream.url)] });
  });
  afterEach(async () => {
    proxy.up();
    client?.socket.terminate();
    await client?.closed;
    client = undefined;
    await vi.waitFor(() => expect(target.running.sockets.size).toBe(0));
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
    await proxy.close();
    await database.remove();
  });

  const lastRow = async () => (await ledgerRows(target)).at(-1);
  const makeToken = async () => {
    token = await makeKey(target, { quota });
    return token.key;
  };
  const cutDatabase = async () => {
    proxy.down();
    // Waits until the gateway cannot reach the database.
    await expect(lastRow()).rejects.toMatchObject({ code: 'store_unavailable' });
  };

  test.each(['/v1/realtime?model=alpha3-tts-flash-realtime', '/api-ws/v1/inference?model=voxa-v3-flash'])(
    'are refused with 503 at %s',
    async (path) => {
      const key = await makeToken();
      await cutDatabase();
      const refusal = await connect(target.url + path, { key }).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(HandshakeRefused);
      expect(refusal).toMatchObject({
        status: 503,
        headers: { 'retry-after': '1' },
        body: { error: { code: 'store_unavailable' } },
      });
    },
  );

  /** Opens a session that has synthesized nine characters. */
  const openSession = async () => {
    upstream.script = realtimeScript();
    client = await connect(`${target.url}/v1/realtime?model=alpha3-tts-flash-realtime`, {
      key: await makeToken(),
    });
    const open = client;
    let count = 0;
    const send = (type: string, fields: object = {}) => {
      count += 1;
      open.send({ event_id: `event_${count}`, type, ...fields });
    };
    const ofType = (type: string) => open.next((event) => event.type === type);
    send('session.update', { session: { voice: 'Aria', mode: 'server_commit' } });
    await ofType('session.updated');
    send('input_text_buffer.append', { text: 'Nine char' });
    await ofType('response.done');
    return { ...open, send, ofType };
  };

  test('end a session with store_unavailable and settle it after the outage', async () => {
    const session = await openSession();
    await cutDatabase();
    session.send('input_text_buffer.append', { text: longText });
    await vi.waitFor(() => {
      target.timers.advance(1_000);
      expect(session.events.at(-1)).toMatchObject({ type: 'error' });
    });
    expect(session.events.at(-1)).toMatchObject({ error: { type: 'api_error', code: 'store_unavailable' } });
    expect(await session.closed).toMatchObject({ code: 1013 });
    proxy.up();
    await vi.waitFor(async () => expect(await lastRow()).toMatchObject({ state: 'settled', charged: 9 }));
    expect(await remainingQuota(target, token.id)).toBe(quota - 9);
  });

  test('send session.finished after the settlement', async () => {
    const session = await openSession();
    await cutDatabase();
    session.send('session.finish');
    await vi.waitFor(() => expect(upstream.connections.at(-1)?.closeCode).toBe(1000));
    expect(session.events.at(-1)).not.toMatchObject({ type: 'session.finished' });
    proxy.up();
    await session.ofType('session.finished');
    expect(await lastRow()).toMatchObject({ state: 'settled', charged: 9 });
    expect(await session.closed).toMatchObject({ code: 1000 });
  });

  test('survive a check of the key that fails', async () => {
    const session = await openSession();
    await cutDatabase();
    target.timers.advance(30_000);
    await expect(lastRow()).rejects.toMatchObject({ code: 'store_unavailable' });
    proxy.up();
    session.send('session.finish');
    await session.ofType('session.finished');
    expect(await lastRow()).toMatchObject({ state: 'settled', charged: 9 });
  });

  test('fail a task with ServiceUnavailable and settle it after the outage', async () => {
    upstream.script = inferenceScript();
    client = await connect(`${target.url}/api-ws/v1/inference?model=voxa-v3-flash`, {
      key: await makeToken(),
    });
    const { events, closed, next, send } = client;
    const id = randomUUID();
    const act = (action: string, payload: object) =>
      send({ header: { action, task_id: id, streaming: 'duplex' }, payload });
    const event = (name: string) => (frame: Frame) => (frame.header as { event: string }).event === name;
    act('run-task', {
      task_group: 'audio',
      task: 'tts',
      function: 'SpeechSynthesizer',
      model: 'voxa-v3-flash',
      parameters: { text_type: 'PlainText', voice: 'v1' },
      input: {},
    });
    await next(event('task-started'));
    act('continue-task', { input: { text: 'Nine char' } });
    await next((frame) => (frame.payload as { usage?: unknown }).usage !== undefined);
    await cutDatabase();
    act('continue-task', { input: { text: longText } });
    await vi.waitFor(() => {
      target.timers.advance(1_000);
      expect(events.at(-1)).toMatchObject({
        header: { event: 'task-failed', error_code: 'ServiceUnavailable' },
      });
    });
    expect(await closed).toMatchObject({ code: 1013 });
    proxy.up();
    await vi.waitFor(async () => expect(await lastRow()).toMatchObject({ state: 'settled', charged: 9 }));
  });
});
