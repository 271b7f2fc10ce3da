import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventProblems } from '../conformance/contract/schemas.ts';
import { connect, type SocketClient } from '../support/socket-client.ts';
import type { Frame } from '../support/socket-upstream.ts';
import { append, eventOf, finish, headerOf, run, taskId, text, update } from './sockets/client-events.ts';
import { serveSockets } from './sockets/serve-sockets.ts';

const realtime = '/api-ws/v1/realtime?model=alpha3-tts-flash-realtime';
const legacy = '/v1/realtime?model=alpha-tts-realtime';
const cloned = '/v1/realtime?model=alpha3-tts-vc-realtime-2026-01-15';
const inference = '/api-ws/v1/inference?model=voxa-v3-flash';

let mock: Awaited<ReturnType<typeof serveSockets>>;
beforeAll(async () => {
  mock = await serveSockets();
});
afterAll(() => mock.close());

const open = (path: string) => connect(`${mock.url}${path}`, { key: 'sk-any' });

describe('a realtime session rejects', () => {
  test.each<[string, string, (object | string)[], string, string | null, string | null]>([
    ['invalid JSON', realtime, ['{'], 'invalid_event', null, null],
    ['a JSON array', realtime, ['[]'], 'invalid_event', null, null],
    ['an unknown event', realtime, [eventOf('session.delete')], 'invalid_event', 'type', 'e3'],
    ['an event without id', realtime, [{ type: 'session.finish' }], 'invalid_event', 'event_id', null],
    ['a text that is a number', realtime, [append(1)], 'invalid_event', 'text', 'e2'],
    ['settings without a voice', realtime, [update({})], 'invalid_event', 'session.voice', 'e1'],
    [
      'an unknown mode',
      realtime,
      [update({ voice: 'Aria', mode: 'x' })],
      'invalid_value',
      'session.mode',
      'e1',
    ],
    ['text before the settings', realtime, [append('Hi')], 'session_not_ready', null, 'e2'],
    [
      'text before session.updated',
      realtime,
      [update({ voice: 'Aria' }), append('Hi')],
      'session_not_ready',
      null,
      'e2',
    ],
    [
      'a commit before session.updated',
      realtime,
      [eventOf('input_text_buffer.commit')],
      'session_not_ready',
      null,
      'e3',
    ],
    [
      'an event_id used before',
      realtime,
      [eventOf('input_text_buffer.clear'), eventOf('response.cancel')],
      'invalid_value',
      'event_id',
      'e3',
    ],
    [
      'MP3 of a legacy model',
      legacy,
      [update({ voice: 'Clio', response_format: 'mp3' })],
      'invalid_value',
      'session.response_format',
      'e1',
    ],
    [
      'the volume of a legacy model',
      legacy,
      [update({ voice: 'Clio', volume: 0 })],
      'invalid_value',
      'session.volume',
      'e1',
    ],
    [
      'instructions',
      realtime,
      [update({ voice: 'Aria', instructions: 'Sing.' })],
      'invalid_value',
      'session.instructions',
      'e1',
    ],
    [
      'another model',
      realtime,
      [update({ voice: 'Aria', model: 'x' })],
      'invalid_value',
      'session.model',
      'e1',
    ],
    [
      'a system voice of a cloning model',
      cloned,
      [update({ voice: 'Aria' })],
      'invalid_value',
      'session.voice',
      'e1',
    ],
  ])('%s', async (_, path, frames, code, param, eventId) => {
    const client = await open(path);
    for (const frame of frames) client.send(frame);
    const event = await client.next(({ type }) => type === 'error');
    expect(event.error).toMatchObject({ type: 'invalid_request_error', code, param, event_id: eventId });
    expect(eventProblems('RealtimeError', event)).toEqual([]);
    // The connection stays open.
    client.send(eventOf('session.finish', 'last'));
    await client.next(({ type }) => type === 'session.finished');
    expect((await client.closed).code).toBe(1000);
  });

  test('new settings after speech, and a commit of an empty buffer', async () => {
    const client = await ready(realtime);
    client.send(append('Good day.'));
    await client.next(({ type }) => type === 'response.done');
    client.send(update({ voice: 'Bruno' }, 'e4'));
    client.send(eventOf('input_text_buffer.commit', 'e5'));
    const codes = [];
    for (let index = 0; index < 2; index += 1) {
      const { error } = await client.next(({ type }) => type === 'error');
      codes.push((error as Frame).code);
    }
    expect(codes).toEqual(['invalid_value', 'empty_buffer']);
    client.socket.close();
  });
});

test('a realtime session starts each file with the header of its container', async () => {
  const client = await ready(cloned, { voice: 'own', response_format: 'wav', sample_rate: 16_000 });
  client.send(append('我 go.'));
  const done = await client.next(({ type }) => type === 'response.done');
  expect((done.response as Frame).usage).toEqual({ characters: 5 + 1 });
  const deltas = client.events.filter(({ type }) => type === 'response.audio.delta');
  const audio = Buffer.concat(deltas.map(({ delta }) => Buffer.from(delta as string, 'base64')));
  expect([audio.toString('latin1', 0, 4), audio.readUInt32LE(24)]).toEqual(['RIFF', 16_000]);
  expect(audio.indexOf('RIFF', 4)).toBe(-1);
  client.socket.close();
});

async function ready(path: string, session: object = { voice: 'Aria' }) {
  const client = await open(path);
  client.send(update(session));
  await client.next(({ type }) => type === 'session.updated');
  return client;
}

const started = (frame: Frame) => (frame.header as Frame).event === 'task-started';

describe('an inference socket fails', () => {
  test.each<[string, object, string, number]>([
    ['text without a task', text('Hi'), 'CLIENT_ERROR', 1000],
    ['a finish without a task', finish, 'CLIENT_ERROR', 1000],
    ['a value out of range', run({ volume: 101 }), 'InvalidParameter', 1007],
    ['a task without a voice', run({ voice: '' }), 'InvalidParameter', 1007],
    ['an unknown action', { header: headerOf('stop'), payload: {} }, 'InvalidParameter', 1007],
  ])('%s', async (_, frame, code, close) => {
    const client = await open(inference);
    client.send(frame);
    await expectFailed(client, code, close);
  });

  test.each<[string, object[], object, string, number]>([
    ['a second task at once', [run()], run(), 'CLIENT_ERROR', 1000],
    ['the text of another task', [run()], text('Hi', crypto.randomUUID()), 'InvalidParameter', 1007],
    [
      'a second SSML text',
      [run({ enable_ssml: true }), text('<speak>a</speak>')],
      text('b'),
      'InvalidParameter',
      1007,
    ],
    ['a text that is too long', [run()], text('我'.repeat(10_001)), 'InvalidParameter', 1007],
    ['a task id used before', [run(), finish], run({}, taskId.toUpperCase()), 'InvalidParameter', 1007],
  ])('%s', async (_, [first = {}, ...more], last, code, close) => {
    const client = await open(inference);
    client.send(first);
    await client.next(started);
    for (const frame of [...more, last]) client.send(frame);
    await expectFailed(client, code, close);
  });

  test('text before task-started', async () => {
    const client = await open(inference);
    client.send(run());
    client.send(text('Hi'));
    await expectFailed(client, 'CLIENT_ERROR', 1000);
  });

  test.each([
    ['invalid JSON', '{', 1007],
    ['a binary frame', Buffer.from('{}'), 1003],
  ])('%s with a close code only', async (_, data, code) => {
    for (const path of data === '{' ? [inference] : [inference, realtime]) {
      const client = await open(path);
      client.socket.send(data);
      expect((await client.closed).code).toBe(code);
      expect(client.events.filter((frame) => 'header' in frame)).toEqual([]);
    }
  });
});

async function expectFailed(client: SocketClient, code: string, close: number) {
  const frame = await client.next((one) => (one.header as Frame).event === 'task-failed');
  expect((frame.header as Frame).error_code).toBe(code);
  expect(eventProblems('TaskFailed', frame)).toEqual([]);
  expect((await client.closed).code).toBe(close);
}
