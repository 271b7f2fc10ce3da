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
/** The figure of a provider that counts kana twice. */
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
      const answer = {
        request_id: 'r',
        output: { finish_reason: 'stop', audio },
        usage: { characters: billed },
      };
      if (request.headers['x-native-sse'] !== 'enable') {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
        return;
      }
      const spoken = { output: { finish_reason: 'null', audio: { data: 'AAAA' } } };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const data of [spoken, answer])
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
  /** A provider of the sockets that counts each unit of the text twice. */
  const doubled = (script: ReturnType<typeof inferenceScript>): typeof script => {
    const counting = (connection: Parameters<NonNullable<typeof script.opened>>[0]) =>
      new Proxy(connection, {
        get: (one, name, self) =>
          name === 'send'
            ? (frame: object) =>
                one.send(
                  JSON.parse(
                    JSON.stringify(frame).replace(
                      /"characters":(\d+)/g,
                      (_, figure) => `"characters":${figure * 2}`,
                    ),
                  ),
                )
            : Reflect.get(one, name, self),
      });
    const proxies = new WeakMap<object, ReturnType<typeof counting>>();
    const proxyOf = (connection: Parameters<typeof counting>[0]) =>
      proxies.getOrInsertComputed(connection, () => counting(connection));
    return {
      opened: (connection) => script.opened?.(proxyOf(connection)),
      frame: (connection, frame) => script.frame?.(proxyOf(connection), frame),
    };
  };
  /** The largest figure in what the client received; undefined: none. */
  const shownIn = (received: string): number | undefined => {
    const figures = [...received.matchAll(/"characters":(\d+)/g)].map(([, figure]) => Number(figure));
    return figures.length === 0 ? undefined : Math.max(...figures);
  };
  const standard = { input: text, voice: 'Aria' };
  const events = { stream: true, stream_format: 'sse' };
  const sse = { headers: { 'X-Native-SSE': 'enable' } };
  const spoken = { model: 'alpha3-tts-flash', input: { text, voice: 'Aria' } };
  const synthesized = { model: 'voxa-v2', input: { text, voice: 'v', format: 'mp3' } };
  const bridged = { ...standard, model: 'voxa-v1', response_format: 'mp3' };

  const fetched =
    (path: string, body: object, options = {}) =>
    async (key: string) => {
      const reply = await post(target.url, key, path, body, options);
      expect(reply.status).toBe(200);
      return new TextDecoder('latin1').decode(await reply.arrayBuffer());
    };
  const alpha3 = { ...standard, model: spoken.model };

  /** Calls that return what the client received. Audio bytes show no figure. */
  const audioRoutes: [string, (key: string) => Promise<string>][] = [
    ['speech, as a file', fetched(speech, alpha3)],
    ['speech, streamed', fetched(speech, { ...alpha3, stream: true })],
    ['speech over a bridge', fetched(speech, bridged)],
  ];
  const shownRoutes: [string, (key: string) => Promise<string>][] = [
    ['speech, as events', fetched(speech, { ...alpha3, ...events })],
    ['speech over a bridge, as events', fetched(speech, { ...bridged, ...events })],
    ['the multimodal route', fetched(multimodal, spoken)],
    ['the multimodal route, as events', fetched(multimodal, spoken, sse)],
    ['the synthesizer route', fetched(synthesizer, synthesized)],
    ['the synthesizer route, as events', fetched(synthesizer, synthesized, sse)],
  ];

  const duplex = async (key: string) => {
    const client = await connect(`${target.url}/api-ws/v1/inference?model=voxa-v3-flash`, { key });
    const header = { task_id: randomUUID(), streaming: 'duplex' };
    const task = { task_group: 'audio', task: 'tts', function: 'SpeechSynthesizer', input: {} };
    const parameters = { text_type: 'PlainText', voice: 'v' };
    const named = (name: string) =>
      client.next(({ header: one }) => (one as { event?: string }).event === name);
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

  const expectOneFigure = async (
    call: (key: string) => Promise<string>,
    reserved: number,
    shown?: number,
  ) => {
    const { key, id } = await makeKey(target, { quota: 100_000 });
    expect(shownIn(await call(key))).toBe(shown);
    await vi.waitFor(async () => {
      const entries = (await logRows(target)).filter(({ token_id: owner }) => owner === id);
      expect(entries).toMatchObject([{ units: billed, quota: 3 * billed, debt: 0, reserved }]);
    });
    expect(await remainingQuota(target, id)).toBe(100_000 - 3 * billed);
  };

  test.each(shownRoutes)('%s: the client, the log and the charge show one figure', async (_route, call) => {
    sockets.script = doubled(inferenceScript());
    await expectOneFigure(call, 3 * billed, billed);
  });

  test.each(audioRoutes)('%s: the log and the charge show one figure', async (_route, call) => {
    sockets.script = doubled(inferenceScript());
    await expectOneFigure(call, 3 * billed);
  });

  // Sockets reserve in steps.
  test('the duplex socket: the client, the log and the charge show one figure', async () => {
    sockets.script = doubled(inferenceScript());
    await expectOneFigure(duplex, 1_500, billed);
  });

  test('the realtime socket: the client, the log and the charge show one figure', async () => {
    sockets.script = doubled(realtimeScript());
    await expectOneFigure(realtime, 1_500, billed);
  });

  test('a key whose quota covers the upper bound exactly is served, and one unit less is refused', async () => {
    for (const [quota, status] of [
      [3 * billed, 200],
      [3 * billed - 1, 403],
    ] as const) {
      const { key, id } = await makeKey(target, { quota });
      const reply = await post(target.url, key, multimodal, spoken);
      await reply.arrayBuffer();
      expect(reply.status).toBe(status);
      expect(await remainingQuota(target, id)).toBe(status === 200 ? 0 : quota);
    }
  });
});
