import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { validateInferenceServerEvent } from '../../generated/event-validators.js';
import { socketDuration } from '../../server/telemetry/metrics.ts';
import { elapse, flushFrames } from '../support/manual-timers.ts';
import { connect, type SocketClient } from '../support/socket-client.ts';
import {
  type Frame,
  type Script,
  type SocketUpstream,
  startSocketUpstream,
  type UpstreamConnection,
} from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';
import { event, inferenceScript } from './inference-script.ts';
import { type SocketGateway, startSocketGateway } from './start.ts';

let upstream: SocketUpstream;
let second: SocketUpstream;
let target: SocketGateway;
let client: SocketClient;

beforeAll(async () => {
  upstream = await startSocketUpstream();
  second = await startSocketUpstream();
  target = await startSocketGateway({
    channels: [
      channelTo(upstream.url, {
        priority: 2,
        models: [
          { id: 'voxa-*', upstream: undefined },
          { id: 'voxa-v2', upstream: 'secret-model' },
        ],
        voices: ['v1', 'v2'],
        profile: { headers: {}, paths: { '/api-ws/v1': '/ws/v9' } },
      }),
      channelTo(second.url, { name: 'second', priority: 1, voices: ['zoe'] }),
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
  for (const one of client.events) {
    expect(
      validateInferenceServerEvent(one),
      JSON.stringify([one, validateInferenceServerEvent.errors]),
    ).toBe(true);
  }
});
afterAll(async () => {
  await target.close();
  await upstream.close();
  await second.close();
});

async function open(model = 'voxa-v1', script: Script = inferenceScript()): Promise<void> {
  upstream.script = script;
  second.script = script;
  client = await connect(`${target.url}/api-ws/v1/inference?model=${model}`, { key: target.key });
}

const newId = () => randomUUID().replaceAll('-', '');

const runFrame = (id: string, { model, parameters = {} }: { model?: string; parameters?: object } = {}) => ({
  header: { action: 'run-task', task_id: id, streaming: 'duplex' },
  payload: {
    task_group: 'audio',
    task: 'tts',
    function: 'SpeechSynthesizer',
    ...(model === undefined ? {} : { model }),
    parameters: { text_type: 'PlainText', voice: 'v1', ...parameters },
    input: {},
  },
});
const textFrame = (id: string, text: string, payload: object = {}) => ({
  header: { action: 'continue-task', task_id: id, streaming: 'duplex' },
  payload: { ...payload, input: { text } },
});
const finishFrame = (id: string) => ({
  header: { action: 'finish-task', task_id: id, streaming: 'duplex' },
  payload: { input: {} },
});

const named = (name: string) => client.next(({ header }) => (header as Frame).event === name);
const start = async (id = newId(), options = {}) => {
  client.send(runFrame(id, options));
  await named('task-started');
  return id;
};
const failed = async (code: string, close: number, message: RegExp = /./, reason = '') => {
  const { header } = (await named('task-failed')) as { header: Frame };
  expect(header.error_code).toBe(code);
  expect(header.error_message).toMatch(message);
  expect(await client.closed).toEqual({ code: close, reason });
  return header.task_id;
};
const advance = (ms: number) =>
  elapse(target.timers, ms, () => [client, ...upstream.connections].map(({ socket }) => socket));
const eventsOf = () => client.events.map(({ header }) => (header as Frame).event);
const upstreamFrames = (one = upstream) => one.connections.at(-1)?.received ?? [];

describe('a task', () => {
  const spoken = ['result-generated', 'result-generated', 'result-generated'];

  test('is relayed frame by frame, with unchanged audio', async () => {
    const audio = Buffer.from(Array.from({ length: 5000 }, (_, index) => index % 256));
    await open('voxa-v1', inferenceScript({ audio }));
    const id = await start(newId(), {
      model: 'voxa-v1',
      parameters: { volume: 0, enable_ssml: false, new_key: 0 },
    });
    client.send(textFrame(id, 'Good '));
    client.send(textFrame(id, 'morning.'));
    client.send(finishFrame(id));
    const finished = await named('task-finished');
    expect((finished.payload as Frame).usage).toEqual({ characters: 13, cost: 13 });
    expect(client.audio).toEqual([audio, audio]);
    expect(eventsOf()).toEqual(['task-started', ...spoken, ...spoken, 'task-finished']);
    const [run, ...rest] = upstreamFrames();
    expect(run).toEqual(
      runFrame(id, { model: 'voxa-v1', parameters: { volume: 0, enable_ssml: false, new_key: 0 } }),
    );
    expect(rest).toEqual([textFrame(id, 'Good '), textFrame(id, 'morning.'), finishFrame(id)]);
    expect(upstream.connections[0]?.url).toBe('/ws/v9/inference?model=voxa-v1');
    expect(upstream.connections[0]?.headers.authorization).toBe('Bearer upstream-key');
  });

  test.each([undefined, ''])('with the model %j gets the model of the connection', async (model) => {
    await open();
    const id = newId();
    const frame = runFrame(id);
    client.send(model === undefined ? frame : { ...frame, payload: { ...frame.payload, model } });
    await named('task-started');
    expect(upstreamFrames()[0]).toEqual(runFrame(id, { model: 'voxa-v1' }));
  });

  test('of a renamed model is sent with the upstream name in every frame', async () => {
    await open('voxa-v2');
    const id = await start(newId(), { model: 'voxa-v2' });
    client.send(textFrame(id, 'Hi.', { model: 'voxa-v2' }));
    client.send(finishFrame(id));
    await named('task-finished');
    expect(upstream.connections[0]?.url).toBe('/ws/v9/inference?model=secret-model');
    expect(upstreamFrames().map(({ payload }) => (payload as Frame).model)).toEqual([
      'secret-model',
      'secret-model',
      undefined,
    ]);
  });

  test('is followed by another task on the same sockets', async () => {
    await open();
    for (const id of [newId(), randomUUID()]) {
      await start(id);
      client.send(textFrame(id, 'Hi.'));
      client.send(finishFrame(id));
      await named('task-finished');
    }
    expect(upstream.connections).toHaveLength(1);
  });

  test('with a voice of another channel uses that channel', async () => {
    await open('voxa-v3-flash');
    const id = await start(newId(), { parameters: { voice: 'zoe' } });
    expect([upstream.connections.length, second.connections.length]).toEqual([0, 1]);
    client.send(finishFrame(id));
    await named('task-finished');
    await start(newId(), { parameters: { voice: 'v1' } });
    expect([upstream.connections.length, second.connections.length]).toEqual([1, 1]);
    await vi.waitFor(() => expect(second.connections[0]?.closeCode).toBe(1000));
  });

  test('connects again when the upstream has disconnected', async () => {
    await open();
    const id = await start();
    client.send(finishFrame(id));
    await named('task-finished');
    upstream.connections[0]?.socket.close();
    await vi.waitFor(() => expect(upstream.connections[0]?.closeCode).toBeDefined());
    await vi.waitFor(async () => {
      await start();
      expect(upstream.connections).toHaveLength(2);
    });
  });

  test('completes when the provider closes right after it', async () => {
    const play = inferenceScript();
    await open('voxa-v1', {
      frame(connection, frame) {
        play.frame?.(connection, frame);
        if ((frame.header as Frame).action === 'finish-task') connection.socket.close(1000);
      },
    });
    for (let round = 0; round < 5; round += 1) {
      const id = await start();
      client.send(textFrame(id, 'Hi.'));
      client.send(finishFrame(id));
      await named('task-finished');
    }
    expect(upstream.connections).toHaveLength(5);
  });

  test('does not fail when its previous upstream disconnects during the connection to another', async () => {
    await open('voxa-v3-flash');
    const id = await start(newId(), { parameters: { voice: 'v1' } });
    client.send(finishFrame(id));
    await named('task-finished');
    second.refuse = 'hang';
    client.send(runFrame(newId(), { parameters: { voice: 'zoe' } }));
    await flushFrames([client.socket]);
    upstream.connections[0]?.socket.close();
    await vi.waitFor(() => expect(upstream.connections[0]?.closeCode).toBeDefined());
    await vi.waitFor(() => {
      target.timers.advance(5_000);
      expect(eventsOf()).toContain('task-failed');
    });
    await failed('InternalError', 1011, /did not answer in time/);
  });

  test('accepts a flush without text', async () => {
    await open();
    const id = await start();
    client.send({ ...textFrame(id, ''), payload: { input: { flush: true } } });
    await vi.waitFor(() => expect(upstreamFrames()).toHaveLength(2));
  });
});

describe('a frame that breaks the contract: InvalidParameter and 1007', () => {
  test.each([
    [
      'another model',
      (id: string) => runFrame(id, { model: 'voxa-v2' }),
      /^payload.model: must be voxa-v1, the model of this connection/,
    ],
    [
      'no input',
      (id: string) => ({ ...runFrame(id), payload: { ...runFrame(id).payload, input: undefined } }),
      /^payload.input: is required/,
    ],
    [
      'an input that is not empty',
      (id: string) => ({ ...runFrame(id), payload: { ...runFrame(id).payload, input: { text: 'x' } } }),
      /^payload.input: must be empty/,
    ],
    [
      'no parameters',
      (id: string) => ({ ...runFrame(id), payload: { ...runFrame(id).payload, parameters: undefined } }),
      /^payload.parameters: is required/,
    ],
    [
      'another function',
      (id: string) => ({ ...runFrame(id), payload: { ...runFrame(id).payload, function: 'x' } }),
      /^payload.function: must be "SpeechSynthesizer"/,
    ],
    [
      'no voice',
      (id: string) => runFrame(id, { parameters: { voice: undefined } }),
      /^payload.parameters.voice: is required/,
    ],
    [
      'a voice with a NUL',
      (id: string) => runFrame(id, { parameters: { voice: 'v\u00001' } }),
      /^payload.parameters.voice: must not contain control characters/,
    ],
    [
      'an unknown voice',
      (id: string) => runFrame(id, { parameters: { voice: 'nobody' } }),
      /^payload.parameters.voice: "nobody" is not a voice/,
    ],
    [
      'a volume above 100',
      (id: string) => runFrame(id, { parameters: { volume: 101 } }),
      /^payload.parameters.volume: must be <= 100/,
    ],
    [
      'an unknown format',
      (id: string) => runFrame(id, { parameters: { format: 'flac' } }),
      /^payload.parameters.format: must be one of mp3, pcm, wav, opus/,
    ],
    [
      'an unknown action',
      (id: string) => ({ header: { action: 'stop-task', task_id: id } }),
      /^header.action: must be one of run-task/,
    ],
    [
      'no streaming',
      (id: string) => ({ ...runFrame(id), header: { action: 'run-task', task_id: id } }),
      /^header.streaming: is required/,
    ],
  ])('%s', async (_name, frame, message) => {
    await open();
    const id = newId();
    client.send(frame(id));
    expect(await failed('InvalidParameter', 1007, message)).toBe(id);
    expect(upstream.connections).toHaveLength(0);
  });

  test.each([
    ['invalid JSON', 'hello'],
    ['an array', '[]'],
    ['no header', '{}'],
    ['no task id', '{"header":{"action":"run-task"}}'],
    ['a task id in another form', JSON.stringify(runFrame('not-a-uuid'))],
  ])('%s has no task id: the socket closes without an event', async (_name, frame) => {
    await open();
    client.send(frame);
    expect((await client.closed).code).toBe(1007);
    expect(client.events).toEqual([]);
  });

  test('a running task receives the failure', async () => {
    await open();
    const id = await start();
    client.send('hello');
    expect(await failed('InvalidParameter', 1007, /not a JSON object/)).toBe(id);
  });

  test.each([
    (id: string) => id,
    (id: string) => id.toUpperCase(),
    (id: string) => id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  ])('a task id used before', async (again) => {
    await open();
    const id = await start();
    client.send(finishFrame(id));
    await named('task-finished');
    client.send(runFrame(again(id)));
    await failed('InvalidParameter', 1007, /used before/);
  });

  test('text for another task', async () => {
    await open();
    const id = await start();
    client.send(textFrame(newId(), 'x'));
    expect(await failed('InvalidParameter', 1007, /header.task_id/)).toBe(id);
  });

  test('neither text nor flush', async () => {
    await open();
    const id = await start();
    client.send({ ...finishFrame(id), header: { ...finishFrame(id).header, action: 'continue-task' } });
    await failed('InvalidParameter', 1007, /payload.input.text: is required/);
  });

  test('a second text with enable_ssml', async () => {
    await open();
    const id = await start(newId(), { parameters: { enable_ssml: true } });
    client.send(textFrame(id, '<speak>x</speak>'));
    client.send(textFrame(id, '<speak>y</speak>'));
    await failed('InvalidParameter', 1007, /must be sent only once/);
    expect(upstreamFrames()).toHaveLength(2);
  });

  test('more than 20,000 billing characters in a frame', async () => {
    await open();
    const id = await start();
    client.send(textFrame(id, '早'.repeat(10_000)));
    await vi.waitFor(() => expect(upstreamFrames()).toHaveLength(2));
    client.send(textFrame(id, `${'早'.repeat(10_000)}x`));
    await failed('InvalidParameter', 1007, /at most 20000 billing characters/);
  });

  test('more than 200,000 billing characters in a task', async () => {
    await open();
    const id = await start();
    for (let frame = 0; frame < 10; frame += 1) client.send(textFrame(id, 'x'.repeat(20_000)));
    await vi.waitFor(() => expect(upstreamFrames()).toHaveLength(11));
    client.send(textFrame(id, 'x'));
    await failed('InvalidParameter', 1007, /at most 200000 billing characters/);
  });

  test('a binary frame: 1003', async () => {
    await open();
    await start();
    client.socket.send(Buffer.from([1]));
    await failed('InvalidParameter', 1003, /text frame/, 'text frames only');
  });

  test('a frame above 1 MiB: 1009', async () => {
    await open();
    client.socket.on('error', () => {});
    client.send('x'.repeat(1024 * 1024 + 1));
    expect((await client.closed).code).toBe(1009);
  });
});

describe('a frame out of order: CLIENT_ERROR and 1000', () => {
  const silent: Script = {};
  const late = { output: { type: 'sentence-synthesis', sentence: { index: 7, words: [] } } };

  test.each([
    ['text without a task', [(id: string) => textFrame(id, 'x')], /no task is running/],
    ['a finish without a task', [finishFrame], /no task is running/],
    ['text before task-started', [runFrame, (id: string) => textFrame(id, 'x')], /wait for task-started/],
    ['a finish before task-started', [runFrame, finishFrame], /wait for task-started/],
    ['a second task', [runFrame, () => runFrame(newId())], /another task is running/],
  ])('%s', async (_name, frames, message) => {
    await open('voxa-v1', silent);
    const id = newId();
    for (const frame of frames) client.send(frame(id));
    expect(await failed('CLIENT_ERROR', 1000, message)).toBe(id);
  });

  test('text after finish-task', async () => {
    await open('voxa-v1', {
      frame: (connection, { header }) =>
        (header as Frame).action === 'run-task' &&
        connection.send(event(String((header as Frame).task_id), 'task-started', {})),
    });
    const id = await start();
    client.send(finishFrame(id));
    client.send(textFrame(id, 'x'));
    await failed('CLIENT_ERROR', 1000, /is finishing/);
  });

  test('text for a task that has ended and is being settled', async () => {
    const { callQuota: ledger } = target.gateway;
    const released = Promise.withResolvers<void>();
    const settle = vi.spyOn(ledger, 'settle').mockImplementationOnce(async (request) => {
      await released.promise;
      return ledger.settle(request);
    });
    try {
      await open('voxa-v1', {
        frame(connection, { header }) {
          const { action, task_id: id } = header as Frame;
          const [name, payload] =
            action === 'run-task'
              ? ['task-started', {}]
              : ['task-finished', { output: {}, usage: { characters: 1 } }];
          connection.send(event(String(id), name, payload));
        },
      });
      const id = await start();
      client.send(textFrame(id, 'x'));
      await vi.waitFor(() => expect(settle).toHaveBeenCalled());
      client.send(textFrame(id, 'y'));
      await flushFrames([client.socket]);
      released.resolve();
      await failed('CLIENT_ERROR', 1000, /is finishing/);
      // The task has failed, so the client receives no task-finished.
      expect(eventsOf()).toEqual(['task-started', 'task-failed']);
    } finally {
      released.resolve();
      settle.mockRestore();
    }
  });

  test('no text for 23 seconds', async () => {
    await open();
    const id = await start();
    target.timers.advance(22_000);
    client.send(textFrame(id, 'x'));
    await named('result-generated');
    target.timers.advance(22_000);
    client.send(textFrame(id, 'y'));
    await vi.waitFor(() => expect(upstreamFrames()).toHaveLength(3));
    target.timers.advance(22_000);
    // A frame of the provider does not count as text.
    upstream.connections[0]?.send(event(id, 'result-generated', late));
    await client.next(({ payload }) => JSON.stringify(payload).includes('7'));
    target.timers.advance(1_000);
    await failed('CLIENT_ERROR', 1000, /The client sent no text for 23 seconds/, 'timeout');
  });

  test('after finish-task the limit of 23 seconds does not apply', async () => {
    await open('voxa-v1', {
      frame: (connection, frame) =>
        (frame.header as Frame).action !== 'finish-task' && inferenceScript().frame?.(connection, frame),
    });
    const id = await start();
    client.send(finishFrame(id));
    await vi.waitFor(() => expect(upstreamFrames()).toHaveLength(2));
    // Each frame of the provider restarts the 60 seconds.
    target.timers.advance(30_000);
    upstream.connections[0]?.send(event(id, 'result-generated', late));
    await named('result-generated');
    target.timers.advance(45_000);
    upstream.connections[0]?.send(event(id, 'task-finished', { usage: { characters: 0 } }));
    await named('task-finished');
  });
});

test('a socket without a task closes after 60 seconds and counts as successful', async () => {
  const counted = vi.spyOn(socketDuration, 'record');
  await open();
  await advance(30_000);
  const id = await start();
  client.send(finishFrame(id));
  await named('task-finished');
  await advance(59_000);
  await start().then((next) => client.send(finishFrame(next)));
  await named('task-finished');
  await advance(60_000);
  expect(await client.closed).toEqual({ code: 1000, reason: 'idle' });
  await vi.waitFor(() => expect(upstream.connections[0]?.closeCode).toBe(1000));
  // The socket of the previous test may have been counted late.
  expect(counted.mock.lastCall?.[1]).toMatchObject({ 'http.response.status_code': 200 });
  counted.mockRestore();
});

describe('a provider that fails', () => {
  const fatal = async (code: string, close: number) => {
    const id = await failed(code, close);
    const received = JSON.stringify(client.events);
    for (const secret of ['127.0.0.1', 'upstream-key', 'recording', 'host.example'])
      expect(received).not.toContain(secret);
    return id;
  };

  test.each([500, 401, 429])('at the handshake with %i: the next channel is used', async (status) => {
    upstream.refuse = status;
    await open('voxa-v3-flash');
    // Neither channel lists this voice, so both may have it.
    await start(newId(), { parameters: { voice: 'zoe' } });
    expect(second.connections).toHaveLength(1);
  });

  test.each([
    [500, 'InternalError', 1011],
    [401, 'InternalError', 1011],
    [429, 'Throttling.RateQuota', 1013],
  ])('at every handshake with %i: %s', async (status, code, close) => {
    upstream.refuse = status;
    await open();
    const id = newId();
    client.send(runFrame(id));
    expect(await fatal(code, close)).toBe(id);
  });

  const onRun = (act: (connection: UpstreamConnection, id: string) => void): Script => ({
    frame: (connection, { header }) => act(connection, String((header as Frame).task_id)),
  });

  test.each([
    ['closes the connection', onRun(({ socket }) => socket.close(1000))],
    ['drops the connection', onRun(({ socket }) => socket.terminate())],
    ['sends invalid JSON', onRun(({ socket }) => socket.send('{'))],
    ['sends no event', onRun(({ socket }) => socket.send('{"header":{}}'))],
  ])('that %s', async (_name, script) => {
    await open('voxa-v1', script);
    client.send(runFrame(newId()));
    await fatal('InternalError', 1011);
  });

  test('that sends nothing', async () => {
    await open('voxa-v1', {});
    client.send(runFrame(newId()));
    await vi.waitFor(() => expect(upstreamFrames()).toHaveLength(1));
    await advance(60_000);
    await fatal('InternalError', 1011);
  });

  test.each([
    ['InvalidParameter', 'volume is odd', 'InvalidParameter', 'volume is odd', 1007],
    ['InvalidParameter', 'see https://host.example', 'InvalidParameter', 'see ***', 1007],
    ['InvalidParameter.upstream-key', '', 'InvalidParameter.***', 'The provider rejected the task.', 1007],
    ['DataInspectionFailed', 'no', 'DataInspectionFailed', 'no', 1007],
    ['CLIENT_ERROR', 'too slow', 'CLIENT_ERROR', 'too slow', 1000],
    [
      'Throttling.AllocationQuota',
      'x',
      'Throttling.AllocationQuota',
      'The provider takes no more requests now.',
      1013,
    ],
    ['InvalidApiKey', 'upstream-key', 'InternalError', 'The provider failed to handle the task.', 1011],
    ['AccessDenied', 'account 7', 'InternalError', 'The provider failed to handle the task.', 1011],
    ['ModelUnavailable', 'at db-7', 'ModelUnavailable', 'The provider failed to handle the task.', 1011],
  ])('with %s %j: %s %j and %i', async (code, message, sentCode, sentMessage, close) => {
    await open(
      'voxa-v1',
      onRun((connection, id) =>
        connection.send({
          header: { task_id: id, event: 'task-failed', error_code: code, error_message: message },
          payload: {},
        }),
      ),
    );
    client.send(runFrame(newId()));
    const { header } = (await named('task-failed')) as { header: Frame };
    expect(header).toMatchObject({ error_code: sentCode, error_message: sentMessage });
    expect((await client.closed).code).toBe(close);
  });

  test('between tasks its frames are ignored', async () => {
    await open();
    const id = await start();
    client.send(finishFrame(id));
    await named('task-finished');
    upstream.connections[0]?.socket.send(Buffer.from([1]));
    upstream.connections[0]?.socket.send('garbage');
    await start();
    expect(client.audio).toEqual([]);
  });
});
