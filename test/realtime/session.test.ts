import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { validateRealtimeServerEvent } from '../../generated/event-validators.js';
import { connect, type SocketClient } from '../support/socket-client.ts';
import {
  type Frame,
  type SocketUpstream,
  startSocketUpstream,
  type UpstreamConnection,
} from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';
import { realtimeScript } from './realtime-script.ts';
import { type SocketGateway, startSocketGateway } from './start.ts';

const flash = 'alpha3-tts-flash-realtime';

let upstream: SocketUpstream;
let second: SocketUpstream;
let target: SocketGateway;
let client: SocketClient;
let count = 0;

beforeAll(async () => {
  upstream = await startSocketUpstream();
  second = await startSocketUpstream();
  target = await startSocketGateway({
    channels: [
      channelTo(upstream.url, {
        priority: 2,
        models: [
          { id: 'alpha3-*', upstream: undefined },
          { id: 'alpha-tts-realtime', upstream: 'secret-model' },
        ],
        voices: ['Aria', 'Bruno'],
      }),
      channelTo(second.url, { name: 'second', priority: 1, voices: ['Zoe'] }),
    ],
  });
});
afterEach(async () => {
  client.socket.terminate();
  await client.closed;
  for (const one of [upstream, second]) {
    one.connections.length = 0;
    one.refuse = undefined;
  }
  // Every event of the gateway matches the contract.
  for (const event of client.events) {
    expect(
      validateRealtimeServerEvent(event),
      JSON.stringify([event, validateRealtimeServerEvent.errors]),
    ).toBe(true);
  }
});
afterAll(async () => {
  await target.close();
  await upstream.close();
  await second.close();
});

async function open(model = flash, script = realtimeScript()): Promise<void> {
  upstream.script = script;
  second.script = script;
  client = await connect(`${target.url}/api-ws/v1/realtime?model=${model}`, { key: target.key });
}

/** Sends an event with a new id, unless the fields contain one. */
function send(type: string, fields: object = {}): string {
  count += 1;
  const event = { event_id: `event_${count}`, type, ...fields };
  client.send(event);
  return event.event_id;
}

const ofType = (type: string) => client.next((event) => event.type === type);
const error = async () => (await ofType('error')).error as Frame;
const seen = (one = upstream) => one.connections.at(-1)?.received.map(({ type }) => type);

async function configure(session: object = {}): Promise<Frame> {
  send('session.update', { session: { voice: 'Aria', mode: 'commit', ...session } });
  return (await ofType('session.updated')).session as Frame;
}

describe('a session', () => {
  const spoken = [
    'response.created',
    'response.audio.delta',
    'response.audio.delta',
    'response.audio.done',
    'response.done',
  ];

  test('is relayed frame by frame, unchanged, to the finish', async () => {
    await open();
    expect((await client.next()).type).toBe('session.created');
    await configure();
    send('input_text_buffer.append', { text: 'Good ' });
    send('input_text_buffer.append', { text: 'morning.', extra: 'kept' });
    send('input_text_buffer.commit');
    const done = await ofType('response.done');
    expect(done.response).toMatchObject({ id: 'resp_1', status: 'completed', usage: { characters: 13 } });
    send('input_text_buffer.append', { text: 'Bye.' });
    send('session.finish');
    expect(await client.closed).toEqual({ code: 1000, reason: '' });
    expect(client.events.map(({ type }) => type)).toEqual([
      'session.created',
      'session.updated',
      'input_text_buffer.committed',
      ...spoken,
      ...spoken,
      'session.finished',
    ]);
    const [connection] = upstream.connections;
    expect(connection?.url).toBe(`/api-ws/v1/realtime?model=${flash}`);
    expect(connection?.headers.authorization).toBe('Bearer upstream-key');
    expect(connection?.received[2]).toMatchObject({ text: 'morning.', extra: 'kept' });
    expect(JSON.stringify([connection?.headers, connection?.received])).not.toContain(target.key);
  });

  test('long audio, which is not parsed, stays a text frame', async () => {
    const audio = 'A'.repeat(2_000);
    await open(flash, realtimeScript({ audio }));
    await configure();
    send('input_text_buffer.append', { text: 'Hi.' });
    send('input_text_buffer.commit');
    expect((await ofType('response.audio.delta')).delta).toBe(audio);
    expect(client.audio).toEqual([]);
  });

  test('clear and cancel are forwarded to the provider', async () => {
    await open();
    await configure();
    send('input_text_buffer.append', { text: 'No.' });
    send('input_text_buffer.clear');
    await ofType('input_text_buffer.cleared');
    send('input_text_buffer.commit');
    expect(await error()).toMatchObject({ code: 'empty_buffer' });
    send('response.cancel');
    await vi.waitFor(() => expect(seen()?.at(-1)).toBe('response.cancel'));
  });

  test('synthesizes without a commit in mode server_commit', async () => {
    await open();
    await configure({ mode: 'server_commit' });
    send('input_text_buffer.append', { text: 'Hi.' });
    await ofType('response.done');
    // The gateway does not know what is left in the buffer of the provider.
    send('input_text_buffer.commit');
    await ofType('input_text_buffer.committed');
  });

  test('a renamed model has its public name for the client', async () => {
    await open('alpha-tts-realtime', realtimeScript({ unit: 'tokens' }));
    const created = await ofType('session.created');
    expect((created.session as Frame).model).toBe('alpha-tts-realtime');
    const session = { voice: 'Aria', model: 'alpha-tts-realtime' };
    send('session.update', { session });
    expect(((await ofType('session.updated')).session as Frame).model).toBe('alpha-tts-realtime');
    expect(upstream.connections[0]?.url).toBe('/api-ws/v1/realtime?model=secret-model');
    expect(upstream.connections[0]?.received[0]?.session).toEqual({ ...session, model: 'secret-model' });
    expect(JSON.stringify(client.events)).not.toContain('secret-model');
  });

  test('the settings can change until synthesis begins', async () => {
    await open();
    await configure();
    send('input_text_buffer.append', { text: 'Hi.' });
    await configure({ volume: 0 });
    send('input_text_buffer.commit');
    await ofType('response.done');
    const id = send('session.update', { session: { voice: 'Aria' } });
    expect(await error()).toMatchObject({
      code: 'invalid_value',
      event_id: id,
      message: expect.stringMatching(/synthesis/),
    });
  });
});

describe('an invalid event gets an error and the session stays open', () => {
  const expectStillOpen = async () => {
    await configure();
    send('input_text_buffer.append', { text: 'ok' });
    send('session.finish');
    expect((await client.closed).code).toBe(1000);
  };

  test.each([
    ['invalid JSON', 'hello', { code: 'invalid_event', param: null, event_id: null }],
    ['an array', '[]', { code: 'invalid_event', param: null, event_id: null }],
    ['a string', '"x"', { code: 'invalid_event', param: null, event_id: null }],
    ['no type', '{"event_id":"a"}', { code: 'invalid_event', param: 'type', event_id: 'a' }],
    [
      'an unknown type',
      '{"event_id":"a","type":"session.created"}',
      { code: 'invalid_event', param: 'type', event_id: 'a' },
    ],
    [
      'a type of the prototype',
      '{"event_id":"a","type":"constructor"}',
      { code: 'invalid_event', param: 'type', event_id: 'a' },
    ],
    [
      'no event id',
      '{"type":"session.finish"}',
      { code: 'invalid_event', param: 'event_id', event_id: null },
    ],
    [
      'an empty event id',
      '{"event_id":"","type":"session.finish"}',
      { code: 'invalid_value', param: 'event_id', event_id: null },
    ],
    [
      'a long event id',
      `{"event_id":"${'x'.repeat(513)}","type":"session.finish"}`,
      { code: 'invalid_value', param: 'event_id', event_id: null },
    ],
    [
      'a number for the event id',
      '{"event_id":1,"type":"session.finish"}',
      { code: 'invalid_event', param: 'event_id', event_id: null },
    ],
    [
      'an update without a session',
      '{"event_id":"a","type":"session.update"}',
      { code: 'invalid_event', param: 'session', event_id: 'a' },
    ],
    [
      'an append without text',
      '{"event_id":"a","type":"input_text_buffer.append"}',
      { code: 'invalid_event', param: 'text', event_id: 'a' },
    ],
    [
      'a number for the text',
      '{"event_id":"a","type":"input_text_buffer.append","text":1}',
      { code: 'invalid_event', param: 'text', event_id: 'a' },
    ],
  ])('%s', async (_name, frame, expected) => {
    await open();
    client.send(frame);
    expect(await error()).toEqual({
      type: 'invalid_request_error',
      message: expect.any(String),
      ...expected,
    });
    await expectStillOpen();
  });

  test.each([
    [flash, { mode: 'commit' }, 'session.voice', 'invalid_event', /is required/],
    [
      flash,
      { voice: 'Ar\0ia' },
      'session.voice',
      'invalid_value',
      /control characters except tab and line breaks; found U\+0000/,
    ],
    [flash, { voice: 'Aria', extra: ['\ud800'] }, 'session.extra.0', 'invalid_value', /lone surrogate/],
    [flash, { voice: '' }, 'session.voice', 'invalid_value', /fewer than 1/],
    [flash, { voice: 'Aria', mode: 'x' }, 'session.mode', 'invalid_value', /server_commit, commit/],
    [
      flash,
      { voice: 'Aria', sample_rate: 44100 },
      'session.sample_rate',
      'invalid_value',
      /8000, 16000, 24000, 48000/,
    ],
    [flash, { voice: 'Aria', speech_rate: 2.1 }, 'session.speech_rate', 'invalid_value', /<= 2/],
    [flash, { voice: 'Aria', volume: 101 }, 'session.volume', 'invalid_value', /<= 100/],
    [flash, { voice: 'Aria', bit_rate: 5 }, 'session.bit_rate', 'invalid_value', />= 6/],
    [
      flash,
      { voice: 'Aria', instructions: 'Fast.' },
      'session.instructions',
      'invalid_value',
      /only by instruct models/,
    ],
    [
      flash,
      { voice: 'Aria', optimize_instructions: true, instructions: 'x' },
      'session.instructions',
      'invalid_value',
      /only by instruct/,
    ],
    [
      flash,
      { voice: 'Aria', model: 'alpha3-tts-instruct-flash-realtime' },
      'session.model',
      'invalid_value',
      /the model of this connection/,
    ],
    [flash, { voice: 'Nobody' }, 'session.voice', 'invalid_value', /"Nobody" is not a voice/],
    [
      'alpha3-tts-instruct-flash-realtime',
      { voice: 'Aria', optimize_instructions: true },
      'session.instructions',
      'invalid_event',
      /required/,
    ],
    [
      'alpha3-tts-vc-realtime-2026-01-15',
      { voice: 'Aria' },
      'session.voice',
      'invalid_value',
      /must be a cloned voice/,
    ],
    [
      'alpha3-tts-vd-realtime-2026-01-15',
      { voice: 'Aria' },
      'session.voice',
      'invalid_value',
      /must be a designed voice/,
    ],
    [
      'alpha-tts-realtime',
      { voice: 'Aria', response_format: 'mp3' },
      'session.response_format',
      'invalid_value',
      /must be pcm/,
    ],
    [
      'alpha-tts-realtime',
      { voice: 'Aria', sample_rate: 48000 },
      'session.sample_rate',
      'invalid_value',
      /must be 24000/,
    ],
    [
      'alpha-tts-realtime',
      { voice: 'Aria', speech_rate: 1 },
      'session.speech_rate',
      'invalid_value',
      /is not supported by this model/,
    ],
    [
      'alpha-tts-realtime',
      { voice: 'Aria', volume: 50 },
      'session.volume',
      'invalid_value',
      /is not supported by this model/,
    ],
    [
      'alpha-tts-realtime',
      { voice: 'Aria', pitch_rate: 1 },
      'session.pitch_rate',
      'invalid_value',
      /is not supported by this model/,
    ],
    [
      'alpha-tts-realtime',
      { voice: 'Aria', bit_rate: 64 },
      'session.bit_rate',
      'invalid_value',
      /is not supported by this model/,
    ],
  ])('%s refuses %j', async (model, session, param, code, message) => {
    await open(model);
    const id = send('session.update', { session });
    expect(await error()).toEqual({
      type: 'invalid_request_error',
      code,
      message: expect.stringMatching(message),
      param,
      event_id: id,
    });
    await ofType('session.created');
    expect(upstream.connections[0]?.received).toEqual([]);
  });

  test.each([
    [
      flash,
      {
        voice: 'Aria',
        response_format: 'opus',
        sample_rate: 48000,
        bit_rate: 64,
        volume: 0,
        speech_rate: 0.5,
      },
    ],
    [flash, { voice: 'Aria', optimize_instructions: false }],
    [
      'alpha3-tts-instruct-flash-realtime',
      { voice: 'Bruno', instructions: 'Fast.', optimize_instructions: true },
    ],
    ['alpha-tts-realtime', { voice: 'Aria', response_format: 'pcm', sample_rate: 24000, enable_tn: true }],
  ])('%s accepts %j', async (model, session) => {
    await open(model);
    expect(await configure({ mode: 'server_commit', ...session })).toMatchObject(session);
  });

  test('an event id used before', async () => {
    await open();
    const id = send('response.cancel');
    send('response.cancel', { event_id: id });
    expect(await error()).toMatchObject({ code: 'invalid_value', param: 'event_id', event_id: id });
    await expectStillOpen();
  });

  test('text and commit before session.updated', async () => {
    await open();
    const id = send('input_text_buffer.append', { text: 'Too early.' });
    expect(await error()).toMatchObject({ code: 'session_not_ready', event_id: id });
    send('input_text_buffer.commit');
    expect(await error()).toMatchObject({ code: 'session_not_ready' });
    await expectStillOpen();
    expect(seen()?.[0]).toBe('session.update');
  });

  test('any event after session.finish', async () => {
    // A provider that is slow to finish.
    await open(flash, { opened: (connection) => connection.send(created) });
    // An empty text is ignored only in an append.
    send('session.finish', { text: '' });
    for (const type of ['response.cancel', 'input_text_buffer.commit', 'session.finish']) {
      send(type);
      expect(await error()).toMatchObject({
        code: 'invalid_value',
        message: expect.stringMatching(/finish/),
      });
    }
    expect(seen()).toEqual(['session.finish']);
  });

  test('an empty text adds nothing', async () => {
    await open();
    await configure();
    send('input_text_buffer.append', { text: '' });
    send('input_text_buffer.commit');
    expect(await error()).toMatchObject({ code: 'empty_buffer' });
    await expectStillOpen();
  });
});

const created = {
  event_id: 'event_s1',
  type: 'session.created',
  session: { id: 'sess_1', object: 'realtime.session', model: flash },
};

describe('frames that end the connection', () => {
  test('a binary frame: 1003', async () => {
    await open();
    client.socket.send(Buffer.from([1]));
    expect(await client.closed).toEqual({ code: 1003, reason: 'text frames only' });
  });

  test('text that is not UTF-8: 1007', async () => {
    await open();
    client.socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
    expect((await client.closed).code).toBe(1007);
  });

  test('a frame above 1 MiB: 1009', async () => {
    await open();
    client.socket.on('error', () => {});
    client.send('x'.repeat(1024 * 1024 + 1));
    expect((await client.closed).code).toBe(1009);
  });

  test('a frame of 1 MiB is read', async () => {
    await open();
    client.send('x'.repeat(1024 * 1024));
    expect(await error()).toMatchObject({ code: 'invalid_event' });
  });
});

describe('the voice determines the channel', () => {
  test('a voice of another channel moves the session to that channel', async () => {
    await open();
    await ofType('session.created');
    expect(second.connections).toHaveLength(0);
    await configure({ voice: 'Zoe' });
    send('session.finish');
    await client.closed;
    expect(client.events.filter(({ type }) => type === 'session.created')).toHaveLength(1);
    await vi.waitFor(() => expect(upstream.connections[0]?.closeCode).toBe(1000));
    expect(upstream.connections[0]?.received).toEqual([]);
    expect(seen(second)).toEqual(['session.update', 'session.finish']);
  });

  test('earlier settings are sent to the new channel', async () => {
    await open();
    await configure({ volume: 7 });
    send('session.update', { session: { voice: 'Zoe' } });
    // The new provider has not confirmed the settings yet.
    send('input_text_buffer.append', { text: 'Too early.' });
    expect(await error()).toMatchObject({ code: 'session_not_ready' });
    expect((await ofType('session.updated')).session).toMatchObject({
      voice: 'Zoe',
      mode: 'commit',
      volume: 7,
    });
  });

  test('a custom voice works only on its channel, for its owner and its model', async () => {
    const cloned = 'alpha3-tts-vc-realtime-2026-01-15';
    const voice = {
      service: 'alpha-voice-enrollment',
      target_model: cloned,
      token_id: 1,
      channel: 'second',
      status: 'OK',
      name: 'mine',
      facts: '{}',
      created_at: 1,
      updated_at: 1,
    };
    await target.gateway.store.run('saveVoice', { ...voice, voice_id: 'mine-1', user_id: 1 });
    await target.gateway.store.run('saveVoice', { ...voice, voice_id: 'theirs-1', user_id: 2 });
    await target.gateway.store.run('saveVoice', {
      ...voice,
      voice_id: 'other-1',
      user_id: 1,
      target_model: flash,
    });
    await open(cloned);
    for (const name of ['theirs-1', 'other-1']) {
      const id = send('session.update', { session: { voice: name } });
      expect(await error()).toMatchObject({ code: 'invalid_value', param: 'session.voice', event_id: id });
    }
    await target.gateway.store.run('saveVoice', {
      ...voice,
      voice_id: 'stranded-1',
      user_id: 1,
      channel: 'gone',
    });
    await configure({ voice: 'mine-1' });
    expect([upstream.connections.length, seen(second)]).toEqual([1, ['session.update']]);
    // The client did not cause the outage of the channel.
    send('session.update', { session: { voice: 'stranded-1' } });
    expect(await error()).toMatchObject({
      code: 'get_channel_failed',
      message: 'The channel of this voice is not available.',
    });
    expect((await client.closed).code).toBe(1013);
  });

  test('a session with buffered text cannot move', async () => {
    await open();
    await configure();
    send('input_text_buffer.append', { text: 'Hi.' });
    const id = send('session.update', { session: { voice: 'Zoe' } });
    expect(await error()).toMatchObject({
      code: 'invalid_value',
      param: 'session.voice',
      message: 'session.voice: this voice requires a new connection, because the text buffer is not empty.',
      event_id: id,
    });
    expect(second.connections).toHaveLength(0);
  });
});

describe('a provider that fails', () => {
  const fatal = async (code: string, type: string, close: number) => {
    const message = expect.stringMatching(/^The \w+ .+\.$/);
    expect(await error()).toEqual({ type, code, message, param: null, event_id: null });
    expect((await client.closed).code).toBe(close);
    const sent = JSON.stringify(client.events);
    expect(sent).not.toContain('127.0.0.1');
    expect(sent).not.toContain('upstream-key');
    expect(sent).not.toContain('recording');
  };

  test.each([500, 503, 401, 403, 404, 429, 302])(
    'at the handshake with %i: the next channel is used',
    async (status) => {
      upstream.refuse = status;
      await open();
      await ofType('session.created');
      expect([upstream.connections.length, second.connections.length]).toEqual([0, 1]);
    },
  );

  test.each([
    [500, 'bad_response', 'api_error', 1011],
    [401, 'bad_response', 'api_error', 1011],
    [404, 'bad_response', 'api_error', 1011],
    [429, 'rate_limit_exceeded', 'rate_limit_error', 1013],
  ])('at every handshake with %i: %s', async (status, code, type, close) => {
    upstream.refuse = status;
    second.refuse = status;
    await open();
    await fatal(code, type, close);
  });

  test('that never answers the handshake', async () => {
    upstream.refuse = 'hang';
    second.refuse = 'hang';
    await open();
    // Once for each channel.
    await vi.waitFor(() => {
      target.timers.advance(5_000);
      expect(client.events).toHaveLength(1);
    });
    await fatal('upstream_timeout', 'api_error', 1011);
  });

  const createdThen = (
    act: (socket: { close(code?: number): void; terminate(): void; send(data: unknown): void }) => void,
  ) => ({
    opened: (connection: { send(frame: object): void; socket: Parameters<typeof act>[0] }) => {
      connection.send(created);
      act(connection.socket);
    },
  });

  test.each([
    ['closes the connection', (socket: { close(): void }) => socket.close()],
    ['drops the connection', (socket: { terminate(): void }) => socket.terminate()],
    ['sends invalid JSON', (socket: { send(data: unknown): void }) => socket.send('{"type":')],
    ['sends no object', (socket: { send(data: unknown): void }) => socket.send('[1]')],
    ['sends no type', (socket: { send(data: unknown): void }) => socket.send('{}')],
    ['sends a binary frame', (socket: { send(data: unknown): void }) => socket.send(Buffer.from([1]))],
    [
      'sends audio in a binary frame',
      (socket: { send(data: unknown): void }) =>
        socket.send(
          Buffer.from(`{"event_id":"x","type":"response.audio.delta","delta":"${'A'.repeat(2000)}"}`),
        ),
    ],
    [
      'sends more than 4 MiB',
      (socket: { send(data: unknown): void }) => socket.send('x'.repeat(4 * 1024 * 1024 + 1)),
    ],
  ])('that %s', async (_name, act) => {
    await open(flash, createdThen(act));
    await fatal('bad_response', 'api_error', 1011);
  });

  test('that closes with 1013 has no capacity', async () => {
    await open(
      flash,
      createdThen((socket) => socket.close(1013)),
    );
    await fatal('rate_limit_exceeded', 'rate_limit_error', 1013);
  });

  const failing = (...errors: object[]) =>
    open(flash, {
      opened(connection) {
        connection.send(created);
        for (const one of errors) connection.send({ event_id: 'event_s2', type: 'error', error: one });
      },
    });

  test.each([
    [
      {
        code: 'invalid_value',
        type: 'invalid_request_error',
        message: 'No such voice.',
        param: 'session.voice',
        event_id: 'e1',
      },
      {},
    ],
    [
      { code: 'InvalidParameter', message: 'No such voice.' },
      { type: null, param: null, event_id: null },
    ],
    [
      { code: 'invalid_value', message: 'see https://host.example/x' },
      { type: null, param: null, event_id: null, message: 'see ***' },
    ],
    [
      { code: 'invalid_value', message: 'worker 10.0.0.7 refused' },
      { type: null, param: null, event_id: null, message: 'worker *** refused' },
    ],
    [
      { code: 'invalid_value', message: 'key upstream-key', param: 'at 10.0.0.7', event_id: 'upstream-key' },
      { type: null, param: 'at ***', event_id: '***', message: 'key ***' },
    ],
    [
      { code: 'InternalError', message: 'stack at db-7' },
      { type: null, param: null, event_id: null, message: 'The provider failed to handle the request.' },
    ],
    [
      {},
      {
        type: null,
        code: null,
        param: null,
        event_id: null,
        message: 'The provider failed to handle the request.',
      },
    ],
  ])('with the error %j: the session stays open', async (given, change) => {
    await failing(given);
    expect(await error()).toEqual({ ...given, ...change });
    send('session.update', { session: { voice: 'Aria' } });
    await vi.waitFor(() => expect(seen()).toEqual(['session.update']));
  });

  test.each([
    ['Throttling.RateQuota', 'rate_limit_exceeded', 'rate_limit_error', 1013],
    ['InvalidApiKey', 'bad_response', 'api_error', 1011],
    ['AccessDenied', 'bad_response', 'api_error', 1011],
    ['Arrearage', 'bad_response', 'api_error', 1011],
  ])('with the error %s: %s', async (given, code, type, close) => {
    await failing({ code: given, message: 'account 7 of upstream-key' });
    await fatal(code, type, close);
  });

  test('with an error and a close: one event, then the close', async () => {
    await open(flash, {
      opened(connection) {
        connection.send(created);
        connection.send({ event_id: 'x', type: 'error', error: { code: 'InternalError', message: 'x' } });
        connection.socket.close(1000);
      },
    });
    expect((await client.closed).code).toBe(1011);
    expect(client.events.filter(({ type }) => type === 'error')).toHaveLength(1);
  });

  const refuse = (connection: UpstreamConnection) => {
    connection.send(created);
    connection.send({ event_id: 'x', type: 'error', error: { code: 'InternalError', message: 'x' } });
  };

  test('with a close after an error and later audio: a second error', async () => {
    await open(flash, {
      opened(connection) {
        refuse(connection);
        const position = { response_id: 'r', item_id: 'i', output_index: 0, content_index: 0 };
        // Large enough to be forwarded unparsed.
        const audio = { event_id: 'y', type: 'response.audio.delta', ...position, delta: 'A'.repeat(2000) };
        connection.send(audio);
        connection.socket.close(1000);
      },
    });
    await error();
    await fatal('bad_response', 'api_error', 1011);
  });

  test('with a close after an error of the previous provider', async () => {
    await open(flash, { opened: refuse });
    second.script = { opened: ({ socket }) => socket.close(1000) };
    await error();
    send('session.update', { session: { voice: 'Zoe' } });
    await fatal('bad_response', 'api_error', 1011);
  });
});
