import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ledgerRowsWithIds, logRows, makeKey, remainingQuota, setKeyLimited } from '../server/ledger.ts';
import { flushFrames } from '../support/manual-timers.ts';
import { connect, type SocketClient } from '../support/socket-client.ts';
import {
  type Frame,
  type Script,
  type SocketUpstream,
  startSocketUpstream,
} from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';
import { event, inferenceScript } from './inference-script.ts';
import { type SocketGateway, startSocketGateway } from './start.ts';

const costs = {
  'voxa-*': [{ when: { voice: 'system' as const }, per: { characters: 2 } }, { per: { characters: 1 } }],
};

describe('the billing of a task', () => {
  let upstream: SocketUpstream;
  let target: SocketGateway;
  let client: SocketClient;
  let token: { key: string; id: number; userId: number };

  beforeAll(async () => {
    upstream = await startSocketUpstream();
    target = await startSocketGateway({
      channels: [channelTo(upstream.url, { costs })],
      prices: { '*': 1, 'voxa-*': 3 },
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
  });

  const open = async (
    script: Script = inferenceScript(),
    quota = 10_000,
    model = 'voxa-v1',
    unlimited = false,
  ) => {
    upstream.script = script;
    token = await makeKey(target, { quota });
    await setKeyLimited(target, token, !unlimited);
    client = await connect(`${target.url}/api-ws/v1/inference?model=${model}`, { key: token.key });
  };
  const named = (name: string) => client.next(({ header }) => (header as Frame).event === name);
  const start = async (parameters: object = {}) => {
    const id = randomUUID();
    const header = { action: 'run-task', task_id: id, streaming: 'duplex' };
    const payload = { task_group: 'audio', task: 'tts', function: 'SpeechSynthesizer', input: {} };
    client.send({
      header,
      payload: { ...payload, parameters: { text_type: 'PlainText', voice: 'v', ...parameters } },
    });
    await named('task-started');
    return id;
  };
  const sendText = (id: string, text: string) =>
    client.send({
      header: { action: 'continue-task', task_id: id, streaming: 'duplex' },
      payload: { input: { text } },
    });
  const finish = async (id: string) => {
    client.send({
      header: { action: 'finish-task', task_id: id, streaming: 'duplex' },
      payload: { input: {} },
    });
    await named('task-finished');
  };
  test('the cost at the provider depends on the kind of the voice', async () => {
    await open();
    const id = await start({ voice: 'voxanna' });
    sendText(id, 'Ten signs.');
    await finish(id);
    expect((await logRows(target)).at(-1)).toMatchObject({ quota: 30, cost: 20 });
  });

  /** Ledger rows of the tasks of the socket, with the number of the task. */
  const rows = async () => {
    const prefix = `${String(client.headers['x-request-id'])}.`;
    const all = (await ledgerRowsWithIds(target)).filter(({ id }) => id.startsWith(prefix));
    return all.map(({ id, tokenId: _, ...row }) => ({ task: id.slice(prefix.length), ...row }));
  };
  const settled = () =>
    vi.waitFor(async () => {
      const found = await rows();
      expect(found.map(({ state }) => state)).not.toContain('open');
      expect(found).not.toEqual([]);
      return found;
    });
  const logs = async () =>
    (await logRows(target)).filter(({ request_id: id }) =>
      id.startsWith(String(client.headers['x-request-id'])),
    );

  test('each task has its own reservation, settled before task-finished is sent', async () => {
    await open();
    const first = await start();
    sendText(first, 'Good ');
    sendText(first, 'morning.');
    await finish(first);
    expect(await rows()).toEqual([
      { task: '1', state: 'settled', reserved: 1500, charged: 39, unit: 'characters' },
    ]);
    const second = await start();
    sendText(second, 'Bye.');
    await finish(second);
    expect((await rows()).map(({ task, charged }) => [task, charged])).toEqual([
      ['1', 39],
      ['2', 12],
    ]);
    expect(await remainingQuota(target, token.id)).toBe(10_000 - 51);
    expect(await logs()).toMatchObject([
      { status: 200, units: 13, quota: 39, channel: 'recording', operation: 'openInferenceSocket' },
      { status: 200, units: 4, quota: 12 },
    ]);
  });

  test('a token model is settled in tokens', async () => {
    await open(inferenceScript({ unit: 'tokens' }), 10_000, 'alpha-audio-3.1-tts-flash');
    const id = await start();
    sendText(id, 'Hello.');
    await finish(id);
    expect(await rows()).toMatchObject([{ charged: 56, unit: 'tokens' }]);
    expect(await logs()).toMatchObject([{ prompt_tokens: 6, completion_tokens: 50 }]);
  });

  test('a task without text leaves no trace', async () => {
    await open();
    const id = await start();
    client.send({
      header: { action: 'continue-task', task_id: id, streaming: 'duplex' },
      payload: { input: { flush: true } },
    });
    await finish(id);
    expect(await rows()).toEqual([]);
  });

  test('SSML tags are not reserved', async () => {
    await open(inferenceScript(), 6);
    const id = await start({ enable_ssml: true });
    sendText(id, '<speak><break time="1s"/>hi</speak>');
    await named('result-generated');
    expect(await rows()).toMatchObject([{ reserved: 6 }]);
  });

  test('a key that becomes limited is limited in the next task of an open socket', async () => {
    await open(inferenceScript(), 30, 'voxa-v1', true);
    const first = await start();
    sendText(first, 'Good morning.');
    await finish(first);
    await setKeyLimited(target, token);
    target.timers.advance(1_000);
    const second = await start();
    sendText(second, 'ten chars.');
    await finish(second);
    expect(await remainingQuota(target, token.id)).toBe(0);
    sendText(await start(), 'x');
    expect((await named('task-failed')).header).toMatchObject({ error_code: 'AccessDenied' });
    expect((await logs()).map(({ quota }) => quota)).toEqual([39, 30]);
  });

  test('without enough quota the text is not forwarded: AccessDenied and 1008', async () => {
    await open(inferenceScript(), 30);
    const id = await start();
    sendText(id, 'ten chars.');
    await client.next(({ payload }) => (payload as Frame).usage !== undefined);
    sendText(id, 'x');
    const { header } = (await named('task-failed')) as { header: Frame };
    expect(header).toMatchObject({
      task_id: id,
      error_code: 'AccessDenied',
      error_message:
        'quota: the key has 0 left, which does not cover this call; 1 characters of voxa-v1 need 3.',
    });
    expect((await client.closed).code).toBe(1008);
    expect(upstream.connections[0]?.received).toHaveLength(2);
    expect(await rows()).toMatchObject([{ state: 'settled', charged: 30 }]);
  });

  /** A provider that reports the first text and never finishes the second. */
  const halfway: Script = {
    frame(connection, frame) {
      const { action, task_id: id } = frame.header as { action: string; task_id: string };
      const texts = connection.received.filter(
        ({ header }) => (header as Frame).action === 'continue-task',
      ).length;
      if (action !== 'continue-task' || texts === 1) inferenceScript().frame?.(connection, frame);
      else {
        connection.socket.send(Buffer.from([9]));
        connection.send(
          event(id, 'result-generated', { output: { type: 'sentence-synthesis', sentence: { index: 1 } } }),
        );
      }
    },
  };
  const midAudio = async () => {
    await open(halfway);
    const id = await start();
    sendText(id, 'Nine char');
    sendText(id, 'This is never finished.');
    await client.next(
      ({ payload }) =>
        ((payload as Frame).output as Frame | undefined)?.sentence !== undefined &&
        JSON.stringify(payload).includes('"index":1'),
    );
    return id;
  };

  test('a client that disconnects mid-sentence is charged the report and the whole sentence', async () => {
    await midAudio();
    client.socket.terminate();
    expect(await settled()).toMatchObject([{ state: 'settled', charged: (9 + 23) * 3 }]);
    expect(await logs()).toMatchObject([{ status: 499, error_code: 'client_closed_request' }]);
    await vi.waitFor(() => expect(upstream.connections[0]?.closeCode).toBe(1000));
  });

  test('a provider that disconnects is charged only as far as it reported', async () => {
    await midAudio();
    upstream.connections[0]?.socket.terminate();
    await named('task-failed');
    expect(await rows()).toMatchObject([{ state: 'settled', charged: 27 }]);
    expect(await logs()).toMatchObject([{ status: 502, error_code: 'InternalError', channel: 'recording' }]);
  });

  test('a task that fails before any report costs nothing', async () => {
    await open({
      frame(connection, frame) {
        const { action, task_id: id } = frame.header as { action: string; task_id: string };
        if (action === 'run-task') connection.send(event(id, 'task-started', {}));
        else
          connection.send({
            header: {
              task_id: id,
              event: 'task-failed',
              error_code: 'DataInspectionFailed',
              error_message: 'no',
            },
            payload: {},
          });
      },
    });
    sendText(await start(), 'Hello.');
    await named('task-failed');
    expect(await rows()).toMatchObject([{ state: 'refunded', charged: null }]);
    expect(await remainingQuota(target, token.id)).toBe(10_000);
  });

  test('a finished task that sent audio without a report costs its text', async () => {
    await open({
      frame(connection, frame) {
        const { action, task_id: id } = frame.header as { action: string; task_id: string };
        if (action === 'run-task') connection.send(event(id, 'task-started', {}));
        if (action === 'continue-task') connection.socket.send(Buffer.from([1]));
        if (action === 'finish-task') connection.send(event(id, 'task-finished', { usage: {} }));
      },
    });
    const id = await start();
    sendText(id, 'ten chars.');
    await finish(id);
    expect(await rows()).toMatchObject([{ state: 'settled', charged: 30 }]);
  });

  /** A provider that sends the given frames for each text. */
  const sending = (
    send: (id: string, sendResult: (payload: object) => void, sendAudio: (bytes: number) => void) => void,
  ): Script => ({
    frame(connection, frame) {
      const { action, task_id: id } = frame.header as { action: string; task_id: string };
      if (action === 'run-task') connection.send(event(id, 'task-started', {}));
      if (action !== 'continue-task') return;
      send(
        id,
        (payload) => connection.send(event(id, 'result-generated', payload)),
        (bytes) => connection.socket.send(Buffer.alloc(bytes)),
      );
      connection.send(event(id, 'result-generated', { output: { type: 'end' } }));
    },
  });
  const ended = () => client.next(({ payload }) => JSON.stringify(payload).includes('"end"'));
  const sentences = 'First one here. Then the second. And at last the third one.';
  const begin = (text?: string) => ({
    output: {
      type: 'sentence-begin',
      sentence: { index: 0, words: [] },
      ...(text === undefined ? {} : { original_text: text }),
    },
  });

  test.each([
    ['audio of a named sentence costs that sentence', {}, ['First one here. ', 99_999], 16],
    ['audio of two named sentences costs both', {}, ['First one here. ', 9, 'Then the second. ', 9], 33],
    ['a named sentence without audio costs nothing', {}, ['First one here. ', 9, 'Then the second. '], 16],
    ['unnamed audio costs the started sentence', {}, [undefined, 3], 16],
    ['1.5 s of MP3 cost two sentences', {}, [undefined, 12_000], 33],
    ['1.5 s of PCM cost two sentences', { format: 'pcm', sample_rate: 48_000 }, [undefined, 144_000], 33],
    ['1.5 s of Opus cost two sentences', { format: 'opus', bit_rate: 64 }, [undefined, 12_000], 33],
    ['a minute of audio costs all text', {}, [480_000], 59],
  ] as const)('%s', async (_name, parameters, steps, units) => {
    await open(
      sending((_id, sendResult, sendAudio) => {
        for (const step of steps) {
          if (typeof step === 'number') sendAudio(step);
          else sendResult(begin(step));
        }
      }),
    );
    sendText(await start(parameters), sentences);
    await ended();
    client.socket.terminate();
    expect(await settled()).toMatchObject([{ charged: units * 3 }]);
  });

  test('new text is reserved in addition to a report above the estimate', async () => {
    await open(sending((_id, sendResult) => sendResult({ usage: { characters: 400 } })));
    const id = await start();
    sendText(id, 'ten chars.');
    await ended();
    expect(await rows()).toMatchObject([{ reserved: 1500 }]);
    sendText(id, 'x'.repeat(300));
    await ended();
    expect(await rows()).toMatchObject([{ reserved: 3000 }]);
  });

  test('text whose reservation is pending when the task ends is not forwarded, and the next task can start', async () => {
    await open();
    const id = await start();
    const { store } = target.gateway;
    const run = store.run.bind(store);
    const [requested, blocked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    vi.spyOn(store, 'run').mockImplementationOnce(async (name, args) => {
      requested.resolve();
      await blocked.promise;
      return run(name, args);
    });
    sendText(id, 'Too late.');
    await requested.promise;
    const [connection] = upstream.connections;
    connection?.send(event(id, 'task-finished', { usage: {} }));
    await flushFrames(upstream.connections.map(({ socket }) => socket));
    blocked.resolve();
    await named('task-finished');
    await start();
    const actions = connection?.received.map(({ header }) => (header as Frame).action);
    expect(actions).toEqual(['run-task', 'run-task']);
    expect(await rows()).toMatchObject([{ state: 'refunded', charged: null }]);
    vi.restoreAllMocks();
  });

  test('a figure above four times the upper bound is charged as the upper bound', async () => {
    await open(
      sending((_id, sendResult) => sendResult({ usage: { characters: 999_999_999 } })),
      1500,
    );
    sendText(await start(), 'ten chars.');
    await ended();
    client.socket.terminate();
    expect(await settled()).toMatchObject([{ reserved: 1500, charged: 30 }]);
    expect(await remainingQuota(target, token.id)).toBe(1470);
  });

  test('a task that ends with a protocol error is settled, too', async () => {
    await midAudio();
    client.send('garbage');
    await client.closed;
    expect(await rows()).toMatchObject([{ state: 'settled', charged: 96 }]);
    expect(await logs()).toMatchObject([{ status: 400, error_code: 'InvalidParameter' }]);
  });
});
