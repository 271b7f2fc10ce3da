import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createOtherUser, saveVoice, voiceFields, withFieldAt } from '../support/custom-voices.ts';
import { connect, type SocketClient } from '../support/socket-client.ts';
import { type Frame, type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';
import { inferenceScript } from './inference-script.ts';
import { realtimeScript } from './realtime-script.ts';
import { type SocketGateway, startSocketGateway } from './start.ts';

const realtimeModel = 'alpha3-tts-flash-realtime';
const voxa = { mine: 'voxa-v2-anna-1', theirs: 'voxa-v2-bob-1', gone: 'voxa-v2-gone-1' };
const alpha = {
  mine: 'alpha-tts-vc-anna-voice-20260101-aaaa',
  theirs: 'alpha-tts-vc-bob-voice-20260101-bbbb',
  gone: 'alpha-tts-vd-gone-voice-20260101-cccc',
};

let first: SocketUpstream;
let second: SocketUpstream;
let target: SocketGateway;
let client: SocketClient;

beforeAll(async () => {
  first = await startSocketUpstream();
  second = await startSocketUpstream();
  // Neither channel lists its voices, so voices without a known owner go to the provider.
  const channels = [
    channelTo(first.url, { name: 'first', priority: 2 }),
    channelTo(second.url, { name: 'second' }),
  ];
  target = await startSocketGateway({ channels });
  const { userId } = await createOtherUser(target.gateway);
  for (const [model, { mine, theirs }] of [
    ['voxa-v2', voxa],
    [realtimeModel, alpha],
  ] as const) {
    await saveVoice(target.gateway, { id: mine, userId: 1, model, channel: 'second' });
    await saveVoice(target.gateway, { id: theirs, userId, model, channel: 'first' });
  }
});
afterEach(async () => {
  client.socket.terminate();
  await client.closed;
  for (const one of [first, second]) one.connections.length = 0;
});
afterAll(async () => {
  await target.close();
  await first.close();
  await second.close();
});

const open = async (path: string, model: string) => {
  for (const one of [first, second]) one.script = path === 'realtime' ? realtimeScript() : inferenceScript();
  client = await connect(`${target.url}/api-ws/v1/${path}?model=${model}`, { key: target.key });
};
/** Frames that the upstreams received. */
const sent = () =>
  [first, second].flatMap(({ connections }) => connections.flatMap(({ received }) => received));
const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

describe('the duplex socket', () => {
  const id = randomUUID();
  const header = (action: string) => ({ action, task_id: id, streaming: 'duplex' });
  const run = {
    header: header('run-task'),
    payload: {
      task_group: 'audio',
      task: 'tts',
      function: 'SpeechSynthesizer',
      parameters: { text_type: 'PlainText', voice: 'v1' },
      input: {},
    },
  };
  const later = {
    'continue-task': { header: header('continue-task'), payload: { input: { text: 'Hi' } } },
    'finish-task': { header: header('finish-task'), payload: { input: {} } },
  };
  const odd = [
    'payload.parameters.deep[].Voice-ID',
    'payload.parameters.style',
    'extra.anything',
    'header.note',
  ];
  const named = (name: string) => (frame: Frame) => (frame.header as Frame).event === name;
  const failure = async () => {
    const { header: failed } = await client.next(named('task-failed'));
    const { code } = await client.closed;
    return [(failed as Frame).error_code, (failed as Frame).error_message, code];
  };

  // The contract requires an empty input of `run-task`.
  const places = [...voiceFields.inference, ...odd];

  test.each(places)("run-task refuses another user's voice at %s", async (place) => {
    for (const voice of [voxa.theirs, voxa.gone]) {
      await open('inference', 'voxa-v2');
      client.send(withFieldAt(run, place, voice));
      const message = `${place.replace('[]', '.0')}: "${voice}" is not a voice of voxa-v2`;
      expect(await failure()).toEqual(['InvalidParameter', expect.stringContaining(message), 1007]);
      expect(sent()).toEqual([]);
    }
  });

  test("run-task accepts the user's own voice, which determines the channel", async () => {
    for (const place of ['payload.parameters.voice', 'payload.parameters.voice_id']) {
      await open('inference', 'voxa-v2');
      client.send(withFieldAt(run, place, voxa.mine));
      await client.next();
      expect([first.connections.length, second.connections.length]).toEqual([0, 1]);
      second.connections.length = 0;
    }
  });

  test.each([
    ['continue-task', 'payload.input.voice'],
    ['continue-task', 'payload.parameters.voice'],
    ['continue-task', 'payload.style'],
    ['finish-task', 'payload.parameters.voice_id'],
    ['finish-task', 'payload.voice'],
  ] as const)("%s refuses another user's voice at %s", async (action, place) => {
    await open('inference', 'voxa-v2');
    client.send(run);
    await client.next();
    client.send(withFieldAt(later[action], place, voxa.theirs));
    const message = `${place}: "${voxa.theirs}" is not a voice of voxa-v2`;
    expect(await failure()).toEqual(['InvalidParameter', expect.stringContaining(message), 1007]);
    expect(sent()).toHaveLength(1);
  });

  test('a later frame refuses a voice of another channel and accepts one of its own', async () => {
    await open('inference', 'voxa-v2');
    client.send(run);
    await client.next();
    client.send(withFieldAt(later['continue-task'], 'payload.parameters.voice', voxa.mine));
    expect(await failure()).toEqual([
      'InvalidParameter',
      'payload.parameters.voice: this voice requires a new task.',
      1007,
    ]);
    await open('inference', 'voxa-v2');
    client.send(withFieldAt(run, 'payload.parameters.voice', voxa.mine));
    await client.next();
    client.send(withFieldAt(later['continue-task'], 'payload.parameters.voice', voxa.mine));
    client.send(later['finish-task']);
    await client.next(named('task-finished'));
    expect(sent().map((frame) => (frame.header as Frame).action)).toEqual([
      'run-task',
      'run-task',
      'continue-task',
      'finish-task',
    ]);
  });

  test('a deeply nested frame is refused', async () => {
    await open('inference', 'voxa-v2');
    client.send(withFieldAt(run, 'payload.parameters.deep', deep(1_000)));
    expect(await failure()).toEqual([
      'InvalidParameter',
      expect.stringContaining('is nested deeper than 100 levels.'),
      1007,
    ]);
  });
});

describe('the realtime socket', () => {
  let count = 0;
  const event = (type: string, fields: object = {}) => {
    count += 1;
    return { event_id: `event_${count}`, type, ...fields };
  };
  const refusal = async () => (await client.next(({ type }) => type === 'error')).error as Frame;
  const start = async () => {
    await open('realtime', realtimeModel);
    await client.next(({ type }) => type === 'session.created');
  };
  const odd = ['session.deep[].Voice-ID', 'session.style', 'extra.anything'];

  test("session.update refuses another user's voice in any field", async () => {
    await start();
    for (const place of [...voiceFields.realtime, ...odd]) {
      for (const voice of [alpha.theirs, alpha.gone]) {
        client.send(withFieldAt(event('session.update', { session: { voice: 'v1' } }), place, voice));
        const field = place.replace('[]', '.0');
        expect(await refusal()).toMatchObject({
          code: 'invalid_value',
          message: expect.stringContaining(`${field}: "${voice}" is not a voice of ${realtimeModel}`),
          param: field,
        });
      }
    }
    expect(sent()).toEqual([]);
  });

  test.each([
    ['input_text_buffer.append', { text: 'Hi' }, 'voice'],
    ['input_text_buffer.append', { text: '' }, 'session.voice'],
    ['response.cancel', {}, 'response.voice'],
    ['session.finish', {}, 'extra.anything'],
  ])("%s refuses another user's voice", async (type, fields, place) => {
    await start();
    client.send(event('session.update', { session: { voice: 'v1' } }));
    await client.next(({ type: name }) => name === 'session.updated');
    client.send(withFieldAt(event(type, fields), place, alpha.theirs));
    expect(await refusal()).toMatchObject({ code: 'invalid_value', param: place });
    // A voice of another channel is refused, too.
    if (place !== 'extra.anything') {
      client.send(withFieldAt(event(type, fields), place, alpha.mine));
      expect(await refusal()).toMatchObject({
        message: `${type}: a voice in this event requires a new connection.`,
      });
    }
    expect(sent()).toHaveLength(1);
    client.send(withFieldAt(event('input_text_buffer.append', { text: 'Hi' }), 'extra.note', 'a note'));
    client.send(event('session.finish'));
    await client.next(({ type: name }) => name === 'session.finished');
    expect(sent()[1]).toMatchObject({ extra: { note: 'a note' } });
  });

  test("session.update accepts the user's own voice, which determines the channel", async () => {
    await start();
    client.send(event('session.update', { session: { voice: alpha.mine, voice_id: alpha.mine } }));
    await client.next(({ type }) => type === 'session.updated');
    expect(second.connections[0]?.received).toHaveLength(1);
  });

  test('a deeply nested event is refused, and the session continues', async () => {
    await start();
    const nested = event('session.update', { session: { voice: 'v1', deep: deep(1_000) } });
    client.send(nested);
    expect(await refusal()).toMatchObject({
      message: expect.stringContaining('is nested deeper than 100 levels.'),
    });
    client.send(event('session.update', { session: { voice: 'v1' } }));
    await client.next(({ type }) => type === 'session.updated');
  });
});
