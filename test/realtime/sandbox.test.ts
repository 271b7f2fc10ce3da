import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  validateInferenceServerEvent,
  validateRealtimeServerEvent,
} from '../../generated/event-validators.js';
import { inspectMp3, inspectOpus, inspectPcm } from '../sandbox/audio-inspection.ts';
import { logRows } from '../server/ledger.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { connect, type SocketClient } from '../support/socket-client.ts';
import type { Frame } from '../support/socket-upstream.ts';

const sentence = 'Good morning from one key.';

let target: TestGateway;
let client: SocketClient;

beforeAll(async () => {
  target = await startTestGateway();
});
afterEach(async () => {
  client.socket.terminate();
  await client.closed;
  const validate = client.socket.url.includes('realtime')
    ? validateRealtimeServerEvent
    : validateInferenceServerEvent;
  for (const event of client.events)
    expect(validate(event), JSON.stringify([event, validate.errors])).toBe(true);
});
afterAll(() => target.close());

const logged = () =>
  vi.waitFor(async () => {
    const id = String(client.headers['x-request-id']);
    const found = (await logRows(target)).filter(({ request_id: one }) => one.startsWith(id));
    expect(found).not.toEqual([]);
    return found;
  });

describe('realtime speech by the sandbox', () => {
  let count = 0;
  const open = async (model: string) => {
    client = await connect(`${target.url}/api-ws/v1/realtime?model=${model}`, { key: target.key });
  };
  const send = (type: string, fields: object = {}) => {
    count += 1;
    client.send({ event_id: `event_${count}`, type, ...fields });
  };
  const ofType = (type: string) => client.next((event) => event.type === type);
  const speak = async (model: string, session: object, text = sentence) => {
    await open(model);
    send('session.update', { session: { voice: 'Aria', ...session } });
    await ofType('session.updated');
    for (const word of text.split(/(?<= )/)) send('input_text_buffer.append', { text: word });
    send('session.finish');
    expect(await client.closed).toEqual({ code: 1000, reason: '' });
    const deltas = client.events.filter(({ type }) => type === 'response.audio.delta');
    return Buffer.concat(deltas.map(({ delta }) => Buffer.from(delta as string, 'base64')));
  };

  test.each([
    [{ response_format: 'pcm', sample_rate: 24000 }, (file: Buffer) => inspectPcm(file, 24000)],
    // The length of a stream is unknown when its header is written.
    [{ response_format: 'wav', sample_rate: 16000 }, (file: Buffer) => inspectPcm(file.subarray(44), 16000)],
    [{ response_format: 'mp3', sample_rate: 48000 }, inspectMp3],
    [{ response_format: 'opus', sample_rate: 48000, bit_rate: 64 }, inspectOpus],
  ] as const)('%j', async (session, inspect) => {
    const audio = await inspect(await speak('alpha3-tts-flash-realtime', session));
    if (session.response_format !== 'opus') expect(audio.sampleRate).toBe(session.sample_rate);
    expect(audio.seconds).toBeGreaterThan(1);
    expect(audio.seconds).toBeLessThan(4);
    expect(await logged()).toMatchObject([
      { units: 26, quota: 26, unit: 'characters', status: 200, channel: 'sandbox' },
    ]);
  });

  test('a legacy model is charged in tokens', async () => {
    const audio = inspectPcm(await speak('alpha-tts-realtime', {}), 24000);
    const [row] = await logged();
    expect(row).toMatchObject({ unit: 'tokens', status: 200, prompt_tokens: 7 });
    expect(row?.completion_tokens).toBeGreaterThanOrEqual(Math.floor(audio.seconds * 50));
    expect(row?.units).toBe(7 + (row?.completion_tokens ?? 0));
  });

  test.each([
    ['[[drop]]', 'bad_response', 1011],
    ['[[garbage]]', 'bad_response', 1011],
    ['[[malformed]]', 'bad_response', 1011],
    ['[[throttle]]', 'rate_limit_exceeded', 1013],
    ['[[unauthorized]]', 'bad_response', 1011],
    ['[[refuse-after-upgrade]]', 'bad_response', 1011],
  ])('%s', async (trigger, code, close) => {
    await open('alpha3-tts-flash-realtime');
    send('session.update', { session: { voice: 'Aria', mode: 'commit' } });
    await ofType('session.updated');
    send('input_text_buffer.append', { text: `Hello. ${trigger}` });
    send('input_text_buffer.commit');
    expect((await ofType('error')).error).toMatchObject({ code });
    expect((await client.closed).code).toBe(close);
  });

  test('a text that the provider refuses leaves the session open', async () => {
    await open('alpha3-tts-flash-realtime');
    send('session.update', { session: { voice: 'Aria', mode: 'commit' } });
    await ofType('session.updated');
    send('input_text_buffer.append', { text: 'Hello. [[reject]]' });
    send('input_text_buffer.commit');
    expect((await ofType('error')).error).toMatchObject({ code: 'DataInspectionFailed' });
    send('input_text_buffer.append', { text: 'Hello again.' });
    send('input_text_buffer.commit');
    await client.next(
      ({ type, response }) => type === 'response.done' && (response as Frame).status === 'completed',
    );
  });
});

describe('duplex speech by the sandbox', () => {
  const named = (name: string) => client.next(({ header }) => (header as Frame).event === name);
  const open = async (model = 'voxa-v1') => {
    client = await connect(`${target.url}/api-ws/v1/inference?model=${model}`, { key: target.key });
  };
  const frame = (action: string, task_id: string, payload: object) =>
    client.send({ header: { action, task_id, streaming: 'duplex' }, payload });
  const run = async (parameters: object = {}) => {
    const id = randomUUID();
    const chosen = { text_type: 'PlainText', voice: 'voxanna', ...parameters };
    frame('run-task', id, {
      task_group: 'audio',
      task: 'tts',
      function: 'SpeechSynthesizer',
      parameters: chosen,
      input: {},
    });
    await named('task-started');
    return id;
  };

  test('two tasks on one socket have separate audio and separate charges', async () => {
    await open();
    for (const [format, inspect] of [
      ['mp3', inspectMp3],
      ['pcm', (file: Buffer) => inspectPcm(file, 24000)],
    ] as const) {
      client.audio.length = 0;
      const id = await run({ format, sample_rate: 24000 });
      frame('continue-task', id, { input: { text: sentence } });
      frame('finish-task', id, { input: {} });
      expect(((await named('task-finished')).payload as Frame).usage).toMatchObject({ characters: 26 });
      const audio = inspect(Buffer.concat(client.audio));
      expect(audio.sampleRate).toBe(24000);
      expect(audio.seconds).toBeGreaterThan(1);
    }
    const rows = await logged();
    expect(rows.map(({ units, status, request_id: id }) => [units, status, id.split('.')[1]])).toEqual([
      [26, 200, '1'],
      [26, 200, '2'],
    ]);
  });

  test.each([
    ['[[drop]]', 'InternalError', 1011],
    ['[[garbage]]', 'InternalError', 1011],
    ['[[throttle]]', 'Throttling.RateQuota', 1013],
    ['[[reject]]', 'DataInspectionFailed', 1007],
    ['[[denied]]', 'InternalError', 1011],
  ])('%s', async (trigger, code, close) => {
    await open();
    const id = await run();
    frame('continue-task', id, { input: { text: `Hello. ${trigger}` } });
    frame('finish-task', id, { input: {} });
    expect((await named('task-failed')).header).toMatchObject({ error_code: code });
    expect((await client.closed).code).toBe(close);
  });
});
