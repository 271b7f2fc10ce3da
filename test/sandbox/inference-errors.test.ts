import { describe, expect, test } from 'vitest';
import { InferenceClient } from './inference-client.ts';
import { useSandbox } from './sandbox-client.ts';
import { rejectHandshake } from './socket-client.ts';

const client = useSandbox({ slowDelayMs: 20 });
const pcm = { format: 'pcm', sample_rate: 8000 };
const id = '5d2f0c3e8b7a4f169a3d2c1b0e9f8a7d';
const otherId = '0d9f8a7d-5d2f-4c3e-8b7a-4f169a3d2c1b';

async function opened(): Promise<InferenceClient> {
  return await new InferenceClient(client.sandbox).opened();
}

async function started(parameters: object = {}): Promise<InferenceClient> {
  const socket = await opened();
  socket.run(id, { ...pcm, ...parameters });
  await socket.until('task-started');
  return socket;
}

/** Reads up to `task-failed` and the close, and checks that nothing follows. */
async function failure(socket: InferenceClient, taskId = id) {
  const { last } = await socket.until('task-failed');
  const closing = await socket.closed;
  expect(socket.pendingFrames).toBe(0);
  if (last.header.event !== 'task-failed') throw new Error('No failure');
  const { error_code, error_message } = last.header;
  expect(last).toEqual({
    header: { task_id: taskId, event: 'task-failed', error_code, error_message, attributes: {} },
    payload: {},
  });
  return { code: error_code, message: error_message, close: closing.code, reason: closing.reason };
}

describe('the handshake', () => {
  test.each(['', 'wrong'])('with key %j is 401', async (key) => {
    const refusal = await rejectHandshake(`${client.sandbox.wsUrl}/api-ws/v1/inference?model=voxa-v2`, key);
    expect(refusal).toMatchObject({ status: 401, body: { code: 'InvalidApiKey' } });
  });
});

describe('frames without a task close the socket', () => {
  test.each<[string, string | Buffer | object, number]>([
    ['not JSON', '{"header":', 1007],
    ['not an object', '"run-task"', 1007],
    ['no header', { payload: {} }, 1007],
    ['no task id', { header: { action: 'run-task', streaming: 'duplex' }, payload: { input: {} } }, 1007],
    ['a task id that is not a UUID', { header: { task_id: 'task-1' }, payload: { input: {} } }, 1007],
    ['a binary frame', Buffer.from('{}'), 1003],
    ['a frame above 1 MiB', ' '.repeat(1024 * 1024 + 1), 1009],
  ])('%s', async (_case, frame, code) => {
    const socket = await opened();
    socket.send(frame);
    expect(await socket.closed).toMatchObject({ code });
    expect(socket.pendingFrames).toBe(0);
  });
});

describe('run-task names the invalid field', () => {
  const run =
    (parameters: object, more: object = {}) =>
    (socket: InferenceClient) =>
      socket.run(id, parameters, more);
  const act = (action: string, payload: object) => (socket: InferenceClient) =>
    socket.act(action, id, payload);

  test.each<[string, (socket: InferenceClient) => void, string]>([
    ['action', act('stop-task', { input: {} }), 'header.action'],
    [
      'no payload',
      (socket) => socket.send({ header: { action: 'run-task', task_id: id, streaming: 'duplex' } }),
      'payload',
    ],
    [
      'streaming',
      (socket) => socket.send({ header: { action: 'run-task', task_id: id }, payload: {} }),
      'header.streaming',
    ],
    ['no input', run({}, { input: undefined }), 'payload.input is required'],
    ['an input that is not empty', run({}, { input: { text: 'Hi' } }), 'payload.input must be empty'],
    ['no model', run({}, { model: undefined }), 'payload.model is required'],
    [
      'a model of another protocol',
      run({}, { model: 'alpha3-tts-flash' }),
      'payload.model alpha3-tts-flash is not served',
    ],
    ['task_group', run({}, { task_group: 'video' }), 'payload.task_group must be audio'],
    ['task', run({}, { task: undefined }), 'payload.task must be tts'],
    ['function', run({}, { function: 'asr' }), 'payload.function must be SpeechSynthesizer'],
    ['no parameters', run({}, { parameters: undefined }), 'payload.parameters is required'],
    ['text_type', run({ text_type: 'SSML' }), 'payload.parameters.text_type must be PlainText'],
    ['no voice', run({ voice: undefined }), 'payload.parameters.voice is required'],
    ['an unknown voice', run({ voice: 'nobody' }), 'payload.parameters.voice nobody does not exist'],
    ['format', run({ format: 'flac' }), 'payload.parameters.format must be one of mp3'],
    ['sample_rate', run({ sample_rate: 11025 }), 'payload.parameters.sample_rate must be one of'],
    ['volume', run({ volume: -1 }), 'payload.parameters.volume must be an integer from 0 to 100'],
    ['rate', run({ rate: 2.5 }), 'payload.parameters.rate must be a number from 0.5 to 2'],
    ['pitch', run({ pitch: '1' }), 'payload.parameters.pitch must be a number from 0.5 to 2'],
    ['bit_rate', run({ bit_rate: 5 }), 'payload.parameters.bit_rate must be an integer from 6 to 510'],
    ['seed', run({ seed: 65536 }), 'payload.parameters.seed'],
    [
      'language_hints',
      run({ language_hints: ['xx'] }),
      'payload.parameters.language_hints must contain one of',
    ],
    ['enable_ssml', run({ enable_ssml: 1 }), 'payload.parameters.enable_ssml must be true or false'],
    [
      'word_timestamp_enabled',
      run({ word_timestamp_enabled: 'yes' }),
      'payload.parameters.word_timestamp_enabled',
    ],
    ['hot_fix', run({ hot_fix: [] }), 'payload.parameters.hot_fix must be an object'],
    ['aigc_propagator', run({ aigc_propagator: 1 }), 'payload.parameters.aigc_propagator must be a string'],
  ])('%s', async (_case, send, message) => {
    const socket = await opened();
    send(socket);
    const failed = await failure(socket);
    expect(failed).toMatchObject({ code: 'InvalidParameter', close: 1007 });
    expect(failed.message).toContain(message);
  });

  test('an unknown model', async () => {
    const socket = await opened();
    socket.run(id, {}, { model: 'nothing' });
    expect(await failure(socket)).toMatchObject({ code: 'ModelNotFound', close: 1007 });
  });
});

describe('the order of frames', () => {
  test('text without a task', async () => {
    const socket = await opened();
    socket.continue(id, 'Hi.');
    expect(await failure(socket)).toMatchObject({ code: 'CLIENT_ERROR', close: 1000 });
  });

  test('text for another task', async () => {
    const socket = await started();
    socket.continue(otherId, 'Hi.');
    expect(await failure(socket, otherId)).toMatchObject({ code: 'CLIENT_ERROR', close: 1000 });
  });

  test('a second task while one is running', async () => {
    const socket = await started();
    socket.run(otherId, pcm);
    expect(await failure(socket, otherId)).toMatchObject({ code: 'CLIENT_ERROR' });
  });

  test.each([
    ['text', 'continue-task', { input: { text: 'More.' } }],
    ['an end', 'finish-task', { input: {} }],
  ])('%s after the end', async (_case, action, payload) => {
    const socket = await started();
    socket.continue(id, 'One sentence after another. '.repeat(20));
    socket.finish(id);
    socket.act(action, id, payload);
    expect(await failure(socket)).toMatchObject({ code: 'CLIENT_ERROR' });
  });

  test('a task id that was used before', async () => {
    const socket = await opened();
    await socket.speak(id, pcm, ['Hi.']);
    socket.run(id, pcm);
    const failed = await failure(socket);
    expect(failed).toMatchObject({ code: 'InvalidParameter', close: 1007 });
    expect(failed.message).toContain('header.task_id');
  });
});

describe('text', () => {
  test('no text and no flush', async () => {
    const socket = await started();
    socket.act('continue-task', id, { input: {} });
    expect((await failure(socket)).message).toContain('payload.input.text is required');
  });

  test('text of another type', async () => {
    const socket = await started();
    socket.act('continue-task', id, { input: { text: 1 } });
    expect((await failure(socket)).message).toContain('payload.input.text must be a string');
  });

  test('more than 20,000 characters in one frame, where an ideograph counts as 2', async () => {
    const socket = await started();
    socket.continue(id, '字'.repeat(10_001));
    const failed = await failure(socket);
    expect(failed).toMatchObject({ code: 'InvalidParameter', close: 1007 });
    expect(failed.message).toContain('20000 characters');
  });

  test('more than 200,000 characters in one task', async () => {
    const socket = await started({ volume: 0 });
    // Blank text is buffered and not spoken, so no synthesis is needed.
    for (let count = 0; count < 10; count++) socket.continue(id, ' '.repeat(20_000));
    await socket.roundTrip();
    expect(socket.pendingFrames).toBe(0);
    socket.continue(id, ' ');
    expect((await failure(socket)).message).toContain('200000 characters');
  });

  test('a second text under enable_ssml', async () => {
    const socket = await started({ enable_ssml: true });
    socket.continue(id, '<speak>Hello</speak>');
    socket.continue(id, '<speak>again</speak>');
    const failed = await failure(socket);
    expect(failed).toMatchObject({ code: 'InvalidParameter', close: 1007 });
    expect(failed.message).toContain('text request limit');
  });
});

describe('triggers', () => {
  const codes: [string, string, number][] = [
    ['refuse-after-upgrade', 'AccessDenied', 1008],
    ['reject', 'DataInspectionFailed', 1007],
    ['unauthorized', 'InvalidApiKey', 1008],
    ['denied', 'AccessDenied', 1008],
    ['throttle', 'Throttling.RateQuota', 1013],
    ['error', 'InternalError', 1011],
    ['unavailable', 'ModelUnavailable', 1011],
  ];

  test.each(codes)('[[%s]] in the text', async (name, code, close) => {
    const socket = await started();
    socket.continue(id, `Please [[${name}]] this.`);
    expect(await failure(socket)).toMatchObject({ code, close });
  });

  test.each(codes)('[[%s]] in the voice', async (name, code, close) => {
    const socket = await opened();
    socket.run(id, { voice: `[[${name}]]` });
    expect(await failure(socket)).toMatchObject({ code, close });
  });

  test('earlier sentences have been sent and counted', async () => {
    const socket = await started();
    socket.continue(id, 'Good day.');
    socket.continue(id, ' Please [[error]] this.');
    const { names, events } = await socket.until('sentence-end');
    expect(names).toContain('audio');
    expect(events.at(-1)?.payload).toMatchObject({ usage: { characters: 9 } });
    expect(await failure(socket)).toMatchObject({ code: 'InternalError' });
  });

  test('[[fail-late]] fails after the first audio', async () => {
    const socket = await started();
    socket.continue(id, 'Please [[fail-late]] this.');
    const { names } = await socket.until('task-failed');
    expect(names).toEqual(['sentence-begin', 'sentence-synthesis', 'audio', 'task-failed']);
    expect(await socket.closed).toMatchObject({ code: 1011 });
  });

  test('[[drop]] breaks the connection after the first audio', async () => {
    const socket = await started();
    socket.continue(id, 'Please [[drop]] this.');
    expect((await socket.until('audio')).names).toEqual(['sentence-begin', 'sentence-synthesis', 'audio']);
    expect(await socket.closed).toEqual({ code: 1006, reason: '' });
  });

  test.each(['text', 'voice'])('[[hang]] in the %s stops all responses', async (place) => {
    const socket = place === 'text' ? await started() : await opened();
    if (place === 'text') socket.continue(id, '[[hang]] now.');
    else socket.run(id, { voice: '[[hang]]' });
    socket.finish(id);
    socket.send('not JSON');
    await socket.roundTrip();
    expect(socket.pendingFrames).toBe(0);
    socket.socket.close();
    await socket.closed;
  });

  test('[[garbage]] and [[malformed]] are sent before the audio', async () => {
    for (const name of ['garbage', 'malformed']) {
      const socket = await started();
      socket.continue(id, `[[${name}]] Hello.`);
      await socket.until('sentence-begin');
      const frame = String(await socket.readFrame());
      if (name === 'garbage') expect(() => JSON.parse(frame) as unknown).toThrow(SyntaxError);
      else expect(JSON.parse(frame)).toEqual({ header: { event: 'result-generated' } });
      expect((await socket.until('sentence-end')).names).toContain('audio');
      socket.socket.close();
    }
  });

  test('[[no-audio]] sends no audio, but is billed', async () => {
    const socket = await opened();
    const task = await socket.speak(id, pcm, ['[[no-audio]] Hello.']);
    expect(task.names).toEqual(['sentence-begin', 'sentence-end', 'task-finished']);
    expect(task.last.payload).toMatchObject({ usage: { characters: 19 } });
    socket.socket.close();
  });

  test('[[slow]] responds normally after a delay', async () => {
    const socket = await opened();
    expect((await socket.speak(id, pcm, ['[[slow]] Hello.'])).names).toContain('audio');
    socket.socket.close();
  });
});
