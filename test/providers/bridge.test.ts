import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import { openSocketWithFailover } from '../../server/channels/socket.ts';
import { findModel } from '../../server/models/catalogue.ts';
import { type BridgedChunk, BridgedSpeech } from '../../server/providers/native/bridge.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { event } from '../realtime/inference-script.ts';
import {
  type SocketUpstream,
  startSocketUpstream,
  type UpstreamConnection,
} from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';

const text = 'One. Two.';
const audio = Buffer.from([1, 2, 3]);
let upstream: SocketUpstream;
let channel: Channel;

beforeAll(async () => {
  upstream = await startSocketUpstream();
  const models = [{ id: 'voxa-v1', upstream: 'their-voxa' }];
  channel = new Channel(channelTo(upstream.url, { models }), Date.now);
});
afterAll(async () => {
  await channel.close();
  await upstream.close();
});

type Send = (event: string, payload?: object, header?: object) => void;

/** Synthesizes with a provider that runs `respond` after the text, and `started` before it. */
async function bridged(
  respond: (send: Send, connection: UpstreamConnection) => void,
  {
    input = {},
    parameters,
    started,
  }: { input?: object; parameters?: Record<string, unknown>; started?: object } = {},
) {
  upstream.script = {
    frame(connection, frame) {
      const { action, task_id: id } = frame.header as { action: string; task_id: string };
      const send: Send = (name, payload = {}, header = {}) => {
        const made = event(id, name, payload);
        connection.send({ ...made, header: { ...(made.header as object), ...header } });
      };
      if (action === 'run-task') send('task-started', started);
      if (action === 'finish-task') respond(send, connection);
    },
  };
  const signal = AbortSignal.timeout(60_000);
  const request = { path: '/api-ws/v1/inference', model: 'voxa-v1', signal } as const;
  const opened = await openSocketWithFailover([channel], request, createLogger('silent'));
  const failed = vi.spyOn(opened.attempt, 'fail');
  const body = {
    model: 'voxa-v1',
    input: { text, voice: 'voxanna', ...input },
    ...(parameters && { parameters }),
  };
  const speech = new BridgedSpeech(opened, findModel('voxa-v1'), body);
  return { speech, faults: () => failed.mock.calls.map(([fault]) => fault), socket: opened.socket };
}

async function allOf(speech: BridgedSpeech) {
  const chunks: BridgedChunk[] = [];
  for await (const chunk of speech.chunks()) chunks.push(chunk);
  return chunks;
}

const said = (characters: number) => ({ usage: { characters } });

test('sends the options, then the text, with one task id', async () => {
  const { speech } = await bridged((send) => send('task-finished'), {
    input: { format: 'wav', volume: 20 },
    parameters: { format: 'pcm', sample_rate: 8000 },
  });
  await allOf(speech);
  const received = upstream.connections.at(-1)?.received ?? [];
  const [id] = received.map(({ header }) => (header as { task_id: string }).task_id);
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  const header = (action: string) => ({ action, task_id: id, streaming: 'duplex' });
  expect(received).toEqual([
    {
      header: header('run-task'),
      payload: {
        task_group: 'audio',
        task: 'tts',
        function: 'SpeechSynthesizer',
        model: 'their-voxa',
        parameters: {
          text_type: 'PlainText',
          format: 'wav',
          sample_rate: 8000,
          voice: 'voxanna',
          volume: 20,
        },
        input: {},
      },
    },
    { header: header('continue-task'), payload: { input: { text } } },
    { header: header('finish-task'), payload: { input: {} } },
  ]);
});

test('yields audio and sentences in order and ignores other events', async () => {
  const begin = { type: 'sentence-begin', original_text: 'One.' };
  const { speech, faults, socket } = await bridged((send, connection) => {
    send('result-generated', { output: begin });
    send('hm', { output: { type: 'sentence-end' } });
    connection.socket.send(audio);
    send('result-generated', {});
    send('task-finished', said(4));
    connection.socket.send(audio);
  });
  expect(speech.delivered).toBe(false);
  expect(await allOf(speech)).toEqual([{ output: begin }, { audio }, { output: {} }]);
  expect([speech.delivered, speech.usage?.units, faults()]).toEqual([true, 4, []]);
  expect(socket.readyState).not.toBe(socket.OPEN);
});

describe('its usage', () => {
  test('is the largest reported count, also before a smaller one', async () => {
    const { speech } = await bridged((send) => {
      send('result-generated', { output: {}, ...said(5) });
      send('result-generated', { output: {}, ...said(2) });
      send('task-finished', {});
    });
    await allOf(speech);
    expect(speech.usage).toEqual({ units: 5, inputTokens: 0, outputTokens: 0 });
  });

  test('is undefined before a report, which may precede the text', async () => {
    const without = (await bridged((send) => send('task-finished'))).speech;
    expect(await allOf(without)).toEqual([]);
    expect([without.usage, without.deliveredUsage.units]).toEqual([undefined, 0]);
    const early = (await bridged((send) => send('task-finished'), { started: said(0) })).speech;
    await allOf(early);
    expect(early.usage?.units).toBe(0);
  });

  /** Two announced sentences, of which only the first has a usage report. */
  const spoken = (send: Send, { socket }: UpstreamConnection) => {
    for (const sentence of ['One. ', 'Two.']) {
      send('result-generated', { output: { type: 'sentence-begin', original_text: sentence } });
      socket.send(Buffer.alloc(4_000));
      send('result-generated', { output: { type: 'sentence-end' }, ...(sentence === 'One. ' && said(5)) });
    }
    socket.close(1011);
  };

  test('includes audio after the last report', async () => {
    const { speech } = await bridged(spoken);
    await expect(allOf(speech)).rejects.toMatchObject({ status: 502 });
    expect([speech.usage?.units, speech.deliveredUsage.units]).toEqual([5, text.length]);
  });

  test('does not count SSML tags', async () => {
    const ssml = '<speak>One.</speak>';
    const { speech } = await bridged(
      (send, { socket }) => {
        send('result-generated', { output: { type: 'sentence-begin', original_text: ssml } });
        socket.send(Buffer.alloc(4_000));
        socket.close(1011);
      },
      { input: { text: ssml, enable_ssml: true } },
    );
    await expect(allOf(speech)).rejects.toMatchObject({ status: 502 });
    expect(speech.deliveredUsage.units).toBe(4);
  });
});

describe('a failed synthesis', () => {
  const brokenOff = ['bad_response', 'The provider closed the socket before the end of the synthesis.'];
  const invalidFrame = ['bad_response', 'The provider sent an invalid frame.'];
  test.each<[string, (send: Send, connection: UpstreamConnection) => void, string[]]>([
    ['by a closed socket', (_, { socket }) => socket.close(1000), brokenOff],
    ['by invalid JSON', (_, { socket }) => socket.send('{'), invalidFrame],
    ['by a frame without an event', (_, connection) => connection.send({ header: {} }), invalidFrame],
  ])('%s is a failure of the channel', async (_, respond, [code, message]) => {
    const { speech, faults, socket } = await bridged(respond);
    await expect(allOf(speech)).rejects.toMatchObject({ status: 502, code, message });
    expect(faults()).toEqual(['disconnected']);
    expect(socket.readyState).not.toBe(socket.OPEN);
  });

  test('by a broken connection is a failure of the channel', async () => {
    const { speech, faults } = await bridged((_, { socket }) => socket.terminate());
    await expect(allOf(speech)).rejects.toThrow();
    expect(faults()).toEqual(['disconnected']);
  });

  test.each([
    [{ error_code: 'InvalidParameter', error_message: 'no such rate' }, 400, 'no such rate'],
    [{ error_code: 'Throttling.RateQuota' }, 429, 'The provider takes no more requests now.'],
    [
      { error_code: 'InternalError', error_message: 'at db-7' },
      502,
      'The provider failed to handle the request.',
    ],
    [{}, 502, 'The provider failed to handle the request.'],
  ])('by a task that fails with %j is no failure of the channel', async (header, status, message) => {
    const { speech, faults } = await bridged((send) => send('task-failed', {}, header));
    await expect(allOf(speech)).rejects.toMatchObject({ status, message });
    expect([faults(), speech.delivered]).toEqual([[], false]);
  });
});

test('the socket closes when the reader stops', async () => {
  const { speech } = await bridged((_, { socket }) => socket.send(audio));
  for await (const _ of speech.chunks()) break;
  await vi.waitFor(() => expect(upstream.connections.at(-1)?.closeCode).toBe(1006));
});
