import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { maxSpeechUsage } from '../../server/models/usage.ts';
import {
  ledgerRows,
  ledgerRowsWithIds,
  logRows,
  makeKey,
  remainingQuota,
  setKeyLimited,
} from '../server/ledger.ts';

import { engines } from '../store/engines.ts';
import { connect, type SocketClient } from '../support/socket-client.ts';
import { type Script, type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';
import { makeDatabase, type TestDatabase } from './database.ts';
import { realtimeScript } from './realtime-script.ts';
import { type SocketGateway, startSocketGateway } from './start.ts';

const flash = 'alpha3-tts-flash-realtime';
const legacy = 'alpha-tts-realtime';

/** A model that is metered in tokens, with a price rule. */
const ruled = 'alpha-tts-realtime-2025-07-15';

describe.each(engines)('the billing of a session on %s', (engine) => {
  let database: TestDatabase;
  let upstream: SocketUpstream;
  let target: SocketGateway;
  let client: SocketClient;
  let token: { key: string; id: number; userId: number };
  let count = 0;

  beforeAll(async () => {
    database = await makeDatabase(engine);
    upstream = await startSocketUpstream();
    target = await startSocketGateway({
      databaseUrl: database.url,
      channels: [channelTo(upstream.url)],
      groups: { default: { models: ['*'], ratio: 1 }, trial: { models: ['*'], ratio: 2.5 } },
      prices: { '*': 1, 'alpha3-*': 2, [ruled]: [{ per: { input_tokens: 1, output_tokens: 10 } }] },
    });
  });
  afterEach(async () => {
    client.socket.terminate();
    await client.closed;
    upstream.connections.length = 0;
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
    await database.remove();
  });

  const open = async (
    model = flash,
    script: Script = realtimeScript(),
    quota = 100_000,
    group = 'default',
    unlimited = false,
  ) => {
    upstream.script = script;
    token = await makeKey(target, { quota, group });
    await setKeyLimited(target, token, !unlimited);
    client = await connect(`${target.url}/v1/realtime?model=${model}`, { key: token.key });
  };
  const send = (type: string, fields: object = {}) => {
    count += 1;
    client.send({ event_id: `event_${count}`, type, ...fields });
  };
  const ofType = (type: string) => client.next((event) => event.type === type);
  const configure = async (mode = 'commit', form = {}) => {
    send('session.update', { session: { voice: 'Aria', mode, ...form } });
    await ofType('session.updated');
  };
  const synthesize = async (text: string) => {
    send('input_text_buffer.append', { text });
    send('input_text_buffer.commit');
    return ofType('response.done');
  };
  const row = async () => {
    const rows = await ledgerRowsWithIds(target);
    return rows.find(({ id }) => id === client.headers['x-request-id']);
  };
  const log = async () =>
    (await logRows(target)).filter((one) => one.request_id === client.headers['x-request-id']);
  const settled = () =>
    vi.waitFor(async () => {
      const found = await row();
      expect(found?.state).not.toBe('open');
      return found;
    });

  test('alpha3: the last cumulative figure is charged, times price and ratio', async () => {
    await open(flash, realtimeScript(), 1000, 'trial');
    await configure();
    await synthesize('Nine char');
    await synthesize('Nine more');
    send('session.finish');
    expect(await ofType('session.finished')).toMatchObject({ usage: { cost: 90 } });
    // The session is settled before session.finished is sent.
    expect(await row()).toMatchObject({ state: 'settled', charged: 18 * 2 * 2.5, unit: 'characters' });
    expect(await remainingQuota(target, token.id)).toBe(1000 - 90);
    await client.closed;
    expect(await log()).toMatchObject([
      {
        status: 200,
        error_code: null,
        units: 18,
        quota: 90,
        channel: 'recording',
        operation: 'openRealtimeSocket',
        model_name: flash,
      },
    ]);
  });

  test('legacy: the sum of all responses is charged, each once', async () => {
    await open(legacy, realtimeScript({ unit: 'tokens' }));
    await configure();
    await synthesize('12345');
    await synthesize('1234567');
    send('session.finish');
    await client.closed;
    // The script reports every response twice.
    expect(await row()).toMatchObject({ state: 'settled', charged: 55 + 57, unit: 'tokens' });
    expect(await log()).toMatchObject([{ units: 112, prompt_tokens: 12, completion_tokens: 100 }]);
  });

  test('a session without text reserves nothing and leaves no trace', async () => {
    await open();
    await configure();
    send('session.finish');
    await client.closed;
    expect(await row()).toBeUndefined();
    expect(await remainingQuota(target, token.id)).toBe(100_000);
  });

  test('quota is reserved before the text is forwarded, and grows with the text', async () => {
    const reservations: (number | undefined)[] = [];
    const script = realtimeScript();
    await open(flash, {
      ...script,
      frame(connection, frame) {
        if (frame.type === 'input_text_buffer.append')
          void row().then((found) => {
            reservations.push(found?.reserved);
            script.frame?.(connection, frame);
          });
        else script.frame?.(connection, frame);
      },
    });
    await configure('server_commit');
    for (const length of [10, 400, 200, 600]) {
      send('input_text_buffer.append', { text: 'x'.repeat(length) });
      await ofType('response.done');
    }
    // Steps of 500 characters at 2 each: 10, 410, 610 and 1210 characters in all.
    expect(reservations).toEqual([1000, 1000, 2000, 3000]);
    expect(await remainingQuota(target, token.id)).toBe(100_000 - 3000);
    send('session.finish');
    await client.closed;
    expect(await remainingQuota(target, token.id)).toBe(100_000 - 1210 * 2);
  });

  test('wide characters count twice', async () => {
    await open(flash, realtimeScript(), 11);
    await configure();
    send('input_text_buffer.append', { text: '早안' });
    await vi.waitFor(async () => expect(await row()).toMatchObject({ reserved: 8 }));
    send('input_text_buffer.append', { text: 'xx' });
    expect((await ofType('error')).error).toMatchObject({ code: 'insufficient_user_quota' });
  });

  test.each([
    [1_218, 0],
    [1_217, 1_217],
  ])(
    'a key that gets a limit of %i is charged for the whole session or refused',
    async (quota, remaining) => {
      await open(flash, realtimeScript(), quota, 'default', true);
      await configure();
      await synthesize('Nine char');
      await setKeyLimited(target, token);
      const checks = vi.spyOn(target.gateway.keys, 'authenticate');
      target.timers.advance(500);
      await vi.waitFor(() => expect(checks).toHaveBeenCalledOnce());
      await checks.mock.results[0]?.value;
      checks.mockRestore();
      send('input_text_buffer.append', { text: 'x'.repeat(600) });
      if (remaining > 0) {
        expect((await ofType('error')).error).toMatchObject({ code: 'insufficient_user_quota' });
        expect((await client.closed).code).toBe(1008);
        expect(await log()).toMatchObject([{ quota: 18, unlimited: 1 }]);
      } else {
        send('input_text_buffer.commit');
        await ofType('response.done');
        send('session.finish');
        await client.closed;
        expect(await row()).toMatchObject({ state: 'settled', reserved: 1_218, charged: 1_218 });
      }
      expect(await remainingQuota(target, token.id)).toBe(remaining);
    },
  );

  test('a text that a budget does not cover is not forwarded', async () => {
    await open();
    const budget = await target.gateway.store.run('createBudget', {
      owner: { tokenId: token.id },
      amount: 25,
      period: 'daily',
      timeZone: 'UTC',
      hard: true,
      thresholds: [],
      change: { userId: 1, tokenId: 1, action: 'createBudget', details: {}, now: target.gateway.clock() },
    });
    expect(budget).toMatchObject({ amount: 25 });
    await configure();
    await synthesize('ten chars.');
    send('input_text_buffer.append', { text: 'six ch' });
    const { message } = (await ofType('error')).error as { message: string };
    expect(message).toMatch(
      /^quota: the daily budget of the key has 5 of 25 left until .* 6 characters of .* need 12\.$/,
    );
    expect((await client.closed).code).toBe(1008);
  });

  test('without enough quota the text is not forwarded, and the session ends with 1008', async () => {
    await open(flash, realtimeScript(), 30);
    await configure();
    await synthesize('ten chars.');
    send('input_text_buffer.append', { text: 'six ch' });
    const error = (await ofType('error')).error;
    expect(error).toEqual({
      type: 'permission_error',
      code: 'insufficient_user_quota',
      message: `quota: the key has 10 left, which does not cover this call; 6 characters of ${flash} need 12.`,
      param: null,
      event_id: `event_${count}`,
    });
    expect((await client.closed).code).toBe(1008);
    expect(JSON.stringify(upstream.connections[0]?.received)).not.toContain('six ch');
    // The synthesized text is charged.
    expect(await row()).toMatchObject({ state: 'settled', charged: 20 });
    expect(await remainingQuota(target, token.id)).toBe(10);
    expect(await log()).toMatchObject([{ status: 403, error_code: 'insufficient_user_quota' }]);
  });

  test('a key without quota cannot send text', async () => {
    await open(flash, realtimeScript(), 0);
    await configure();
    send('input_text_buffer.append', { text: '' });
    send('input_text_buffer.append', { text: 'x' });
    expect((await client.closed).code).toBe(1008);
    expect(await row()).toBeUndefined();
  });

  test('an unexpected error ends the session with 1011, and the text is not forwarded', async () => {
    await open();
    await configure();
    const sent = upstream.connections[0]?.received.length;
    vi.spyOn(target.gateway.store, 'run').mockRejectedValueOnce(new Error('the store is broken'));
    send('input_text_buffer.append', { text: 'Good morning.' });
    expect((await ofType('error')).error).toMatchObject({
      type: 'api_error',
      code: 'internal_error',
      message: 'The gateway failed.',
    });
    expect((await client.closed).code).toBe(1011);
    expect(upstream.connections[0]?.received).toHaveLength(sent ?? 0);
    vi.restoreAllMocks();
  });

  test('under a price rule exactly the bound of input and output is reserved', async () => {
    const text = 'ten chars.';
    const { units, maxOutputTokens } = maxSpeechUsage('tokens', text);
    const needed = units - maxOutputTokens + 10 * maxOutputTokens;
    await open(ruled, realtimeScript(), needed);
    await configure();
    send('input_text_buffer.append', { text });
    await vi.waitFor(async () => expect(await row()).toMatchObject({ reserved: needed, state: 'open' }));
    send('input_text_buffer.append', { text: 'x' });
    expect((await ofType('error')).error).toMatchObject({ code: 'insufficient_user_quota' });
  });

  test('near the end of the quota exactly the needed amount is reserved', async () => {
    await open(flash, realtimeScript(), 30);
    await configure();
    send('input_text_buffer.append', { text: 'ten chars.' });
    await vi.waitFor(async () => expect(await row()).toMatchObject({ reserved: 20, state: 'open' }));
    expect(await remainingQuota(target, token.id)).toBe(10);
  });

  /** A provider that reports one response and never finishes another. */
  const halfway: Script = (() => {
    const script = realtimeScript();
    let appends = 0;
    return {
      opened(connection) {
        appends = 0;
        script.opened?.(connection);
      },
      frame(connection, frame) {
        if (frame.type === 'input_text_buffer.append') appends += 1;
        if (appends < 2) script.frame?.(connection, frame);
        else if (frame.type === 'input_text_buffer.commit')
          connection.send({ event_id: 'late', type: 'response.audio.delta', delta: 'AAAA' });
      },
    };
  })();
  const midAudio = async () => {
    await open(flash, halfway);
    await configure();
    await synthesize('Nine char');
    send('input_text_buffer.append', { text: 'This is never finished.' });
    send('input_text_buffer.commit');
    await client.next((event) => event.event_id === 'late');
  };

  test('a client that disconnects mid-sentence is charged the report and the whole sentence', async () => {
    await midAudio();
    client.socket.terminate();
    expect(await settled()).toMatchObject({ state: 'settled', charged: (9 + 23) * 2 });
    await vi.waitFor(() => expect(upstream.connections[0]?.closeCode).toBe(1000));
    expect(await remainingQuota(target, token.id)).toBe(100_000 - 64);
    expect(await log()).toMatchObject([{ status: 499, error_code: 'client_closed_request', units: 32 }]);
  });

  test.each([
    ['closes normally', () => client.socket.close(1000), 200, null],
    ['sends a binary frame', () => client.socket.send(Buffer.from([1])), 400, 'binary_frame'],
  ])('a client that %s mid-sentence is charged the same', async (_, disconnect, status, error_code) => {
    await midAudio();
    disconnect();
    expect(await settled()).toMatchObject({ state: 'settled', charged: 64 });
    expect(await log()).toMatchObject([{ status, error_code }]);
  });

  test('a provider that disconnects is charged only as far as it reported', async () => {
    await midAudio();
    upstream.connections[0]?.socket.terminate();
    expect((await ofType('error')).error).toMatchObject({ code: 'bad_response' });
    expect((await client.closed).code).toBe(1011);
    expect(await row()).toMatchObject({ state: 'settled', charged: 18 });
    expect(await log()).toMatchObject([{ status: 502, error_code: 'bad_response', units: 9 }]);
  });

  test('a provider that sends an error and closes is charged as far as it reported, and logged as failed', async () => {
    await midAudio();
    const [connection] = upstream.connections;
    connection?.send({ event_id: 'x', type: 'error', error: { code: 'InternalError', message: 'x' } });
    connection?.socket.close(1000);
    expect((await client.closed).code).toBe(1011);
    expect(await row()).toMatchObject({ state: 'settled', charged: 18 });
    expect(await log()).toMatchObject([{ status: 502, error_code: 'bad_response', units: 9 }]);
  });

  test('a provider that fails before any report costs nothing', async () => {
    await open(flash, {
      ...halfway,
      frame: (connection, frame) =>
        frame.type === 'input_text_buffer.append'
          ? connection.socket.terminate()
          : realtimeUpdate(connection, frame),
    });
    await configure();
    send('input_text_buffer.append', { text: 'Hello.' });
    expect((await client.closed).code).toBe(1011);
    expect(await row()).toMatchObject({ state: 'refunded', charged: null });
    expect(await remainingQuota(target, token.id)).toBe(100_000);
  });
  const realtimeUpdate: NonNullable<Script['frame']> = (connection, { session }) =>
    connection.send({
      event_id: 'u',
      type: 'session.updated',
      session: { id: 's', object: 'realtime.session', model: flash, ...(session as object) },
    });

  /** A provider whose responses have the given reports. */
  const reporting = (...reports: { status?: string; usage?: unknown; id?: string }[]): Script => ({
    ...realtimeScript(),
    frame(connection, frame) {
      if (frame.type === 'session.update') realtimeUpdate(connection, frame);
      if (frame.type !== 'session.finish') return;
      for (const [index, { status = 'completed', id = `r${index}`, usage }] of reports.entries())
        connection.send({ event_id: `d${index}`, type: 'response.done', response: { id, status, usage } });
      connection.send({ event_id: 'f', type: 'session.finished' });
    },
  });
  const reported = async (model: string, ...reports: Parameters<typeof reporting>) => {
    await open(model, reporting(...reports));
    await configure();
    send('input_text_buffer.append', { text: 'ten chars.' });
    send('session.finish');
    await client.closed;
    return row();
  };

  /** A provider that sends the given events for each append. */
  const speaking = (sendEvents: (emit: (type: string, fields?: object) => void) => void): Script => ({
    ...realtimeScript(),
    frame(connection, frame) {
      if (frame.type === 'session.update') realtimeUpdate(connection, frame);
      if (frame.type !== 'input_text_buffer.append') return;
      let events = 0;
      sendEvents((type, fields = {}) => {
        events += 1;
        connection.send({ event_id: `s${events}`, type, ...fields });
      });
      connection.send({ event_id: 'end', type: 'input_text_buffer.cleared' });
    },
  });
  /** Returns the charge of a client that disconnects after a text and the events of the provider. */
  const chargeAfter = async (
    text: string,
    sendEvents: Parameters<typeof speaking>[0],
    model = flash,
    form = {},
  ) => {
    await open(model, speaking(sendEvents));
    await configure('server_commit', form);
    send('input_text_buffer.append', { text });
    await client.next((event) => event.event_id === 'end');
    client.socket.terminate();
    return (await settled())?.charged;
  };
  const sentences = 'First one here. Then the second. And at last the third one.';
  /** A delta with that many seconds of PCM at 24 kHz. */
  const seconds = (length: number) => ({ delta: Buffer.alloc(48_000 * length).toString('base64') });
  const done = (status: string, usage?: object) => ({ response: { id: 'r', status, usage } });

  test.each<[string, number, number, object?]>([
    ['the first audio costs its whole sentence', 0.01, 16],
    ['1.5 s of audio cost two sentences', 1.5, 33],
    ['a minute of audio costs all text', 60, 59],
    ['the bytes of 3 s at twice the sample rate cost two sentences', 3, 33, { sample_rate: 48_000 }],
  ])('%s', async (_name, length, units, form = {}) => {
    const sendEvents = (emit: (type: string, fields: object) => void) =>
      emit('response.audio.delta', seconds(length));
    const charged = await chargeAfter(sentences, sendEvents, flash, form);
    expect(charged).toBe(units * 2);
  });

  test('audio whose text the provider has named costs that text', async () => {
    const charged = await chargeAfter(sentences, (emit) => {
      emit('response.audio.delta', seconds(60));
      emit('response.content_part.done', { part: { type: 'audio', text: 'First one here. ' } });
    });
    expect(charged).toBe(16 * 2);
  });

  test('an incomplete response without a report costs the audio sent', async () => {
    const charged = await chargeAfter(sentences, (emit) => {
      emit('response.audio.delta', seconds(0.1));
      emit('response.done', done('incomplete'));
    });
    expect(charged).toBe(16 * 2);
  });

  test('an incomplete response without a report costs its tokens, in addition to later reports', async () => {
    const charged = await chargeAfter(
      sentences,
      (emit) => {
        emit('response.audio.delta', seconds(2));
        emit('response.done', done('incomplete'));
        emit('response.done', {
          response: { id: 'r2', status: 'completed', usage: { input_tokens: 1, output_tokens: 50 } },
        });
      },
      legacy,
    );
    // Two sentences of 33 bytes and two seconds, and the reported usage.
    expect(charged).toBe(9 + 100 + 51);
  });

  test('a response that failed without a report costs nothing', async () => {
    const charged = await chargeAfter(sentences, (emit) => {
      emit('response.audio.delta', seconds(2));
      emit('response.done', done('failed'));
    });
    expect(charged).toBeNull();
  });

  test('text that was cleared before its synthesis costs nothing', async () => {
    const script = realtimeScript();
    await open(flash, {
      ...script,
      frame(connection, frame) {
        if (frame.type !== 'input_text_buffer.commit') script.frame?.(connection, frame);
        else connection.send({ event_id: 'late', type: 'response.audio.delta', delta: 'AAAA' });
      },
    });
    await configure();
    send('input_text_buffer.append', { text: 'x'.repeat(300) });
    send('input_text_buffer.clear');
    send('input_text_buffer.append', { text: 'ten chars.' });
    send('input_text_buffer.commit');
    await client.next((event) => event.event_id === 'late');
    client.socket.terminate();
    expect(await settled()).toMatchObject({ charged: 20 });
  });

  test('text whose synthesis has begun is charged, even if it is cleared later', async () => {
    await open(flash, {
      ...realtimeScript(),
      frame(connection, frame) {
        const emit = (type: string, fields: object) =>
          connection.send({ event_id: `s_${String(frame.type)}`, type, ...fields });
        if (frame.type === 'session.update') realtimeUpdate(connection, frame);
        if (frame.type === 'input_text_buffer.append')
          emit('response.created', { response: { id: 'r', object: 'realtime.response' } });
        if (frame.type === 'input_text_buffer.clear') emit('response.audio.delta', { delta: 'AAAA' });
      },
    });
    await configure('server_commit');
    send('input_text_buffer.append', { text: 'ten chars.' });
    await ofType('response.created');
    send('input_text_buffer.clear');
    await ofType('response.audio.delta');
    client.socket.terminate();
    expect(await settled()).toMatchObject({ charged: 20 });
  });

  test('new text is reserved in addition to a report above the estimate', async () => {
    await open(
      flash,
      speaking((emit) => emit('response.done', done('completed', { characters: 400 }))),
    );
    await configure('server_commit');
    send('input_text_buffer.append', { text: 'ten chars.' });
    await client.next((event) => event.event_id === 'end');
    expect(await row()).toMatchObject({ reserved: 1000 });
    send('input_text_buffer.append', { text: 'x'.repeat(300) });
    await client.next((event) => event.event_id === 'end');
    expect(await row()).toMatchObject({ reserved: 2000 });
  });

  test('a figure above four times the upper bound is charged as the upper bound', async () => {
    await open(
      flash,
      speaking((emit) => emit('response.done', done('completed', { characters: 999_999_999 }))),
      1000,
    );
    await configure('server_commit');
    send('input_text_buffer.append', { text: 'ten chars.' });
    await client.next((event) => event.event_id === 'end');
    client.socket.terminate();
    expect(await settled()).toMatchObject({ reserved: 1000, charged: 20 });
    expect(await remainingQuota(target, token.id)).toBe(980);
    expect(await log()).toMatchObject([{ units: 10, quota: 20 }]);
  });

  test('a decreasing figure is ignored', async () => {
    expect(await reported(flash, { usage: { characters: 18 } }, { usage: { characters: 9 } })).toMatchObject({
      charged: 36,
    });
  });

  test('a repeated report of a response counts with its larger figure', async () => {
    const usage = (tokens: number) => ({ usage: { input_tokens: 1, output_tokens: tokens }, id: 'same' });
    expect(await reported(legacy, usage(50), usage(70), usage(60))).toMatchObject({ charged: 71 });
  });

  test.each([
    {},
    { usage: null },
    { usage: { characters: -1 } },
    { usage: { characters: 1e12 } },
    { usage: { characters: 'x' } },
  ])('a response completed with %j costs its text', async (report) => {
    expect(await reported(flash, report)).toMatchObject({ state: 'settled', charged: 20 });
  });

  test('a failed response without a report costs nothing', async () => {
    expect(await reported(flash, { status: 'failed' })).toMatchObject({ state: 'refunded' });
  });

  test('a report of zero is refunded', async () => {
    expect(await reported(flash, { usage: { characters: 0 } })).toMatchObject({ state: 'refunded' });
  });

  test('a reservation lasts as long as its session', async () => {
    await open();
    await configure();
    await synthesize('hello');
    target.timers.now += 6 * 60 * 60 * 1000;
    const { now } = target.timers;
    await target.gateway.store.run('releaseOrphans', { now, dueNow: now });
    expect(await row()).toMatchObject({ state: 'open' });
    send('session.finish');
    await client.closed;
    expect(await row()).toMatchObject({ state: 'settled', charged: 10 });
  });

  test('concurrent sessions of one key never reserve more than its quota', async () => {
    upstream.script = realtimeScript();
    token = await makeKey(target, { quota: 100 });
    const clients = await Promise.all(
      Array.from({ length: 12 }, () =>
        connect(`${target.url}/v1/realtime?model=${flash}`, { key: token.key }),
      ),
    );
    for (const one of clients) {
      one.send({ event_id: 'a', type: 'session.update', session: { voice: 'Aria', mode: 'commit' } });
      await one.next(({ type }) => type === 'session.updated');
    }
    for (const one of clients) {
      one.send({ event_id: 'b', type: 'input_text_buffer.append', text: 'ten chars.' });
      one.send({ event_id: 'c', type: 'session.finish' });
    }
    const codes = await Promise.all(clients.map(async ({ closed }) => (await closed).code));
    const charged = codes.filter((code) => code === 1000).length;
    expect(codes.filter((code) => code === 1008)).toHaveLength(12 - charged);
    expect(charged).toBeGreaterThan(0);
    expect(await remainingQuota(target, token.id)).toBe(100 - charged * 20);
    client = clients[0] as SocketClient;
  });

  test('no reservation stays open', async () => {
    client = await connect(`${target.url}/v1/realtime?model=${flash}`, { key: target.key });
    await vi.waitFor(async () => {
      expect((await ledgerRows(target)).filter(({ state }) => state === 'open')).toEqual([]);
    });
  });
});
