import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { inferenceScript } from '../realtime/inference-script.ts';
import { realtimeScript } from '../realtime/realtime-script.ts';
import { engines } from '../store/engines.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { connect } from '../support/socket-client.ts';
import { type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';
import { logRows, makeKey, post, remainingQuota } from './ledger.ts';

const text = 'こんにちは';
/** Characters that the provider reports. It counts each kana twice. */
const billed = 10;
const speech = '/v1/audio/speech';
const multimodal = '/api/v1/services/aigc/multimodal-generation/generation';
const synthesizer = '/api/v1/services/audio/tts/SpeechSynthesizer';

describe.each(engines)('text whose provider counts each character twice, on %s', (engine) => {
  let http: RecordingUpstream;
  let sockets: SocketUpstream;
  let target: TestGateway;

  beforeAll(async () => {
    http = await startUpstream((request, response) => {
      if (request.path === '/file.wav') {
        response.end(Buffer.alloc(2000, 1));
        return;
      }
      const audio = { data: '', url: `${http.url}/file.wav`, id: 'a', expires_at: 1 };
      const speechResponse = {
        request_id: 'r',
        output: { finish_reason: 'stop', audio },
        usage: { characters: billed },
      };
      if (request.headers['x-native-sse'] !== 'enable') {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(speechResponse));
        return;
      }
      const nativeBody = { output: { finish_reason: 'null', audio: { data: 'AAAA' } } };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const data of [nativeBody, speechResponse])
        response.write(`id:1\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify(data)}\n\n`);
      response.end();
    });
    sockets = await startSocketUpstream();
    target = await startTestGateway(
      {
        channels: [
          channelTo(http.url, { priority: 9, name: 'http', models: named('alpha3-tts-flash', 'voxa-v2') }),
          channelTo(sockets.url, {
            priority: 9,
            name: 'sockets',
            models: named('alpha3-tts-flash-realtime', 'voxa-v1', 'voxa-v3-flash'),
          }),
        ],
        prices: { '*': 3 },
      },
      engine,
    );
  });
  afterAll(async () => {
    await target.close();
    await http.close();
    await sockets.close();
  });

  const named = (...ids: string[]) => ids.map((id) => ({ id, upstream: undefined }));
  /** Makes a socket provider count each character twice. */
  const withDoubledCounts = (script: ReturnType<typeof inferenceScript>): typeof script => {
    const doublingProxy = (connection: Parameters<NonNullable<typeof script.opened>>[0]) =>
      new Proxy(connection, {
        get: (original, name, self) =>
          name === 'send'
            ? (frame: object) =>
                original.send(
                  JSON.parse(
                    JSON.stringify(frame).replace(
                      /"characters":(\d+)/g,
                      (_, count) => `"characters":${count * 2}`,
                    ),
                  ),
                )
            : Reflect.get(original, name, self),
      });
    const proxies = new WeakMap<object, ReturnType<typeof doublingProxy>>();
    const proxyOf = (connection: Parameters<typeof doublingProxy>[0]) =>
      proxies.getOrInsertComputed(connection, () => doublingProxy(connection));
    return {
      opened: (connection) => script.opened?.(proxyOf(connection)),
      frame: (connection, frame) => script.frame?.(proxyOf(connection), frame),
    };
  };
  /** Returns the largest character count that the client received. Undefined: none. */
  const reportedCount = (received: string): number | undefined => {
    const counts = [...received.matchAll(/"characters":(\d+)/g)].map(([, count]) => Number(count));
    return counts.length === 0 ? undefined : Math.max(...counts);
  };
  const standard = { input: text, voice: 'Aria' };
  const events = { stream: true, stream_format: 'sse' };
  const sse = { headers: { 'X-Native-SSE': 'enable' } };
  const nativeBody = { model: 'alpha3-tts-flash', input: { text, voice: 'Aria' } };
  const synthesized = { model: 'voxa-v2', input: { text, voice: 'v', format: 'mp3' } };
  const bridged = { ...standard, model: 'voxa-v1', response_format: 'mp3' };

  const fetchAs =
    (path: string, body: object, options = {}) =>
    async (key: string) => {
      const reply = await post(target.url, key, path, body, options);
      expect(reply.status).toBe(200);
      return new TextDecoder('latin1').decode(await reply.arrayBuffer());
    };
  const standardBody = { ...standard, model: nativeBody.model };

  /** Calls that return what the client received. Audio bytes contain no character count. */
  const routesWithoutCount: [string, (key: string) => Promise<string>][] = [
    ['speech, as a file', fetchAs(speech, standardBody)],
    ['speech, streamed', fetchAs(speech, { ...standardBody, stream: true })],
    ['speech over a bridge', fetchAs(speech, bridged)],
  ];
  const routesWithCount: [string, (key: string) => Promise<string>][] = [
    ['speech, as events', fetchAs(speech, { ...standardBody, ...events })],
    ['speech over a bridge, as events', fetchAs(speech, { ...bridged, ...events })],
    ['the multimodal route', fetchAs(multimodal, nativeBody)],
    ['the multimodal route, as events', fetchAs(multimodal, nativeBody, sse)],
    ['the synthesizer route', fetchAs(synthesizer, synthesized)],
    ['the synthesizer route, as events', fetchAs(synthesizer, synthesized, sse)],
  ];

  const duplex = async (key: string) => {
    const client = await connect(`${target.url}/api-ws/v1/inference?model=voxa-v3-flash`, { key });
    const header = { task_id: randomUUID(), streaming: 'duplex' };
    const task = { task_group: 'audio', task: 'tts', function: 'SpeechSynthesizer', input: {} };
    const parameters = { text_type: 'PlainText', voice: 'v' };
    const named = (name: string) =>
      client.next(({ header: original }) => (original as { event?: string }).event === name);
    client.send({ header: { ...header, action: 'run-task' }, payload: { ...task, parameters } });
    await named('task-started');
    client.send({ header: { ...header, action: 'continue-task' }, payload: { input: { text } } });
    client.send({ header: { ...header, action: 'finish-task' }, payload: { input: {} } });
    await named('task-finished');
    client.socket.terminate();
    return JSON.stringify(client.events);
  };
  const realtime = async (key: string) => {
    const client = await connect(`${target.url}/v1/realtime?model=alpha3-tts-flash-realtime`, { key });
    const send = (type: string, fields: object = {}) => client.send({ event_id: type, type, ...fields });
    const ofType = (name: string) => client.next(({ type }) => type === name);
    send('session.update', { session: { voice: 'Aria', mode: 'commit' } });
    await ofType('session.updated');
    send('input_text_buffer.append', { text });
    send('input_text_buffer.commit');
    await ofType('response.done');
    send('session.finish');
    await ofType('session.finished');
    client.socket.terminate();
    return JSON.stringify(client.events);
  };

  const expectSameCount = async (
    call: (key: string) => Promise<string>,
    reserved: number,
    reported?: number,
  ) => {
    const { key, id } = await makeKey(target, { quota: 100_000 });
    expect(reportedCount(await call(key))).toBe(reported);
    await vi.waitFor(async () => {
      const entries = (await logRows(target)).filter(({ token_id: owner }) => owner === id);
      expect(entries).toMatchObject([{ units: billed, quota: 3 * billed, debt: 0, reserved }]);
    });
    expect(await remainingQuota(target, id)).toBe(100_000 - 3 * billed);
  };

  test.each(routesWithCount)(
    '%s: client, log and charge have the same character count',
    async (_route, call) => {
      sockets.script = withDoubledCounts(inferenceScript());
      await expectSameCount(call, 3 * billed, billed);
    },
  );

  test.each(routesWithoutCount)('%s: log and charge have the same character count', async (_route, call) => {
    sockets.script = withDoubledCounts(inferenceScript());
    await expectSameCount(call, 3 * billed);
  });

  // Sockets reserve in steps.
  test('the duplex socket: client, log and charge have the same character count', async () => {
    sockets.script = withDoubledCounts(inferenceScript());
    await expectSameCount(duplex, 1_500, billed);
  });

  test('the realtime socket: client, log and charge have the same character count', async () => {
    sockets.script = withDoubledCounts(realtimeScript());
    await expectSameCount(realtime, 1_500, billed);
  });

  test('a key whose quota equals the upper bound is served, and with one unit less it is refused', async () => {
    for (const [quota, status] of [
      [3 * billed, 200],
      [3 * billed - 1, 403],
    ] as const) {
      const { key, id } = await makeKey(target, { quota });
      const reply = await post(target.url, key, multimodal, nativeBody);
      await reply.arrayBuffer();
      expect(reply.status).toBe(status);
      expect(await remainingQuota(target, id)).toBe(status === 200 ? 0 : quota);
    }
  });
});
