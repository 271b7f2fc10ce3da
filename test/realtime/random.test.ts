import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  type EventValidator,
  validateInferenceServerEvent,
  validateRealtimeServerEvent,
} from '../../generated/event-validators.js';
import { ledgerRowsWithIds, logRows, makeKey, remainingQuota } from '../server/ledger.ts';
import { flushFrames } from '../support/manual-timers.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { connect, type SocketClient } from '../support/socket-client.ts';
import {
  type SocketUpstream,
  startSocketUpstream,
  type UpstreamConnection,
} from '../support/socket-upstream.ts';
import { channelTo } from '../support/upstream.ts';
import { event, inferenceScript } from './inference-script.ts';
import { realtimeScript } from './realtime-script.ts';
import { type SocketGateway, startSocketGateway } from './start.ts';

const seed = 20_260_801;
const rounds = 60;
const closeCodes = [1000, 1001, 1003, 1006, 1007, 1008, 1009, 1011, 1013];
const taskIds = Array.from({ length: 6 }, (_, index) => `5d2f0c3e8b7a4f169a3d2c1b0e9f8a7${index}`);

describe('any order of frames', () => {
  let upstream: SocketUpstream;
  let target: SocketGateway;
  let client: SocketClient;
  /** Errors that the gateway logged. */
  let errors: string[];
  /** Largest figure that the upstream has reported, by task. A session has one task. */
  let reported: Map<string, number>;
  /** Characters that the upstream has received, by task. */
  let received: Map<string, number>;
  let random: () => number;

  beforeAll(async () => {
    errors = [];
    const logger = pino({ level: 'error' }, { write: (line: string) => void errors.push(line) });
    upstream = await startSocketUpstream();
    target = await startSocketGateway({ channels: [channelTo(upstream.url)] }, logger);
  });
  afterAll(async () => {
    await target.close();
    await upstream.close();
  });

  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(...values: T[]): T => values[below(values.length)] as T;

  /** Records every figure of a sent frame for the running task. */
  const recordFigures = (task: () => string) => (text: string) => {
    const figures = [...text.matchAll(/"characters":(\d+)/g)].map(([, figure]) => Number(figure));
    for (const figure of figures) reported.set(task(), Math.max(reported.get(task()) ?? 0, figure));
  };
  const recordText = (task: string, text: unknown) => {
    if (typeof text === 'string') received.set(task, (received.get(task) ?? 0) + text.length);
  };
  const watched = (connection: UpstreamConnection, record: (text: string) => void): UpstreamConnection => ({
    ...connection,
    send(frame) {
      record(JSON.stringify(frame));
      if (connection.socket.readyState === connection.socket.OPEN) connection.send(frame);
    },
  });
  const misbehave = (connection: UpstreamConnection) =>
    pick(
      () => connection.socket.send('{'),
      () => connection.socket.send('{"type":5}'),
      () => connection.socket.send(Buffer.from([1, 2])),
      () => connection.socket.close(pick(1000, 1011, 1013)),
      () => connection.socket.terminate(),
    )();

  /**
   * Checks that the socket has ended and that each reservation was closed once, for at most the reported usage plus
   * the sent text.
   */
  const expectBalanced = async (token: { id: number }, quota: number, validate: EventValidator<unknown>) => {
    client.socket.terminate();
    expect(closeCodes).toContain((await client.closed).code);
    for (const one of client.events) expect(validate(one), JSON.stringify([one, validate.errors])).toBe(true);
    const requestId = String(client.headers['x-request-id']);
    await vi.waitFor(() => expect(target.running.sockets.size).toBe(0));
    const logs = (await logRows(target)).filter(({ token_id: id }) => id === token.id);
    const rows = (await ledgerRowsWithIds(target)).filter(({ id }) => id.startsWith(requestId));
    for (const row of rows) {
      const task = row.id === requestId ? '' : row.id.slice(requestId.length + 1);
      const bound = (reported.get(task) ?? 0) + (received.get(task) ?? 0);
      expect(row.charged ?? 0).toBeLessThanOrEqual(bound);
      expect(row.state).toBe(row.charged === null ? 'refunded' : 'settled');
    }
    expect(logs.map(({ request_id: id }) => id).sort()).toEqual(rows.map(({ id }) => id).sort());
    const spent = rows.reduce((sum, { charged }) => sum + (charged ?? 0), 0);
    expect(logs.reduce((sum, { quota: cost }) => sum + cost, 0)).toBe(spent);
    const { used_quota: used } = await target.gateway.store.read
      .selectFrom('tokens')
      .select('used_quota')
      .where('id', '=', token.id)
      .executeTakeFirstOrThrow();
    expect([await remainingQuota(target, token.id), used]).toEqual([quota - spent, spent]);
    expect(await target.gateway.store.report('auditLedger', null)).toMatchObject({ problems: [], held: 0 });
    expect(errors).toEqual([]);
    return spent;
  };

  test('a realtime session', async () => {
    random = seededRandom(seed);
    let spent = 0;
    for (let round = 0; round < rounds; round += 1) {
      reported = new Map();
      received = new Map();
      const quota = pick(0, 15, 60, 10_000);
      const token = await makeKey(target, { quota });
      const play = realtimeScript({ chunks: below(3) });
      const wrapped = new WeakMap<UpstreamConnection, UpstreamConnection>();
      upstream.script = {
        opened(connection) {
          const one = watched(
            connection,
            recordFigures(() => ''),
          );
          wrapped.set(connection, one);
          if (random() < 0.97) play.opened?.(one);
          else misbehave(connection);
        },
        frame(connection, frame) {
          const one = wrapped.get(connection);
          recordText('', frame.text);
          const draw = random();
          if (one === undefined || draw < 0.03) return;
          if (draw < 0.05) misbehave(connection);
          else if (draw < 0.1)
            one.send({
              event_id: 'e',
              type: 'error',
              error: pick<object>({}, { code: 'invalid_value', message: 'x' }, { code: 'Throttling' }),
            });
          else if (draw < 0.13)
            one.send({
              event_id: 'd',
              type: 'response.done',
              response: { id: 'r', status: 'failed', usage: { characters: below(5) } },
            });
          else play.frame?.(one, frame);
        },
      };
      client = await connect(`${target.url}/v1/realtime?model=alpha3-tts-flash-realtime`, { key: token.key });
      client.socket.on('error', () => {});
      let ids = 0;
      const send = (type: string, fields: object = {}) => {
        if (random() < 0.97) ids += 1;
        client.send({ event_id: `event_${ids}`, type, ...fields });
      };
      const update = () =>
        send('session.update', { session: { voice: 'Aria', mode: pick('commit', 'server_commit') } });
      const append = () => send('input_text_buffer.append', { text: 'x'.repeat(below(12)) });
      const commit = () => send('input_text_buffer.commit');
      if (random() < 0.8) update();
      for (let step = below(24); step > 0; step -= 1) {
        if (client.socket.readyState !== client.socket.OPEN) break;
        if (random() < 0.5) await flushFrames([client.socket]);
        pick(
          append,
          append,
          append,
          append,
          append,
          commit,
          commit,
          commit,
          update,
          () => send('input_text_buffer.clear'),
          () => send('response.cancel'),
          () => random() < 0.3 && send('session.finish'),
          () =>
            random() < 0.3 &&
            client.send(
              pick('{', '[]', '{"type":"x"}', '{"event_id":"a","type":"session.update","session":{}}'),
            ),
          () => random() < 0.1 && client.socket.send(Buffer.from([1])),
          () => random() < 0.2 && client.socket.close(),
          () => random() < 0.1 && target.timers.advance(pick(10_000, 61_000)),
        )();
      }
      if (random() < 0.5) await flushFrames([client.socket]);
      spent += await expectBalanced(token, quota, validateRealtimeServerEvent);
    }
    expect(spent).toBeGreaterThan(0);
  });

  test('a duplex socket', async () => {
    random = seededRandom(seed + 1);
    let spent = 0;
    for (let round = 0; round < rounds; round += 1) {
      reported = new Map();
      received = new Map();
      const quota = pick(0, 15, 60, 10_000);
      const token = await makeKey(target, { quota });
      const play = inferenceScript();
      const numbers = new Map<string, string>();
      upstream.script = {
        frame(connection, frame) {
          const { action, task_id: id } = frame.header as { action: string; task_id: string };
          if (action === 'run-task') numbers.set(id, String(numbers.size + 1));
          const one = Object.assign(
            watched(
              connection,
              recordFigures(() => numbers.get(id) ?? ''),
            ),
            { socket: connection.socket },
          );
          recordText(numbers.get(id) ?? '', (frame.payload as { input: { text?: string } }).input.text);
          const draw = random();
          if (draw < 0.03) return;
          if (draw < 0.05) misbehave(connection);
          else if (draw < 0.08)
            one.send({
              header: {
                task_id: id,
                event: 'task-failed',
                error_code: pick('InvalidParameter', 'InternalError', 'Throttling.X'),
                error_message: 'x',
              },
              payload: {},
            });
          else if (draw < 0.1) one.send(event(id, 'task-finished', { usage: { characters: below(5) } }));
          else play.frame?.(one, frame);
        },
      };
      client = await connect(`${target.url}/api-ws/v1/inference?model=voxa-v1`, { key: token.key });
      client.socket.on('error', () => {});
      const remaining = [...taskIds];
      let task = remaining[0] ?? '';
      let seen = -1;
      const frame = (action: string, payload: object, id = task) =>
        client.send({ header: { action, task_id: id, streaming: 'duplex' }, payload });
      const run = () => {
        task = remaining.shift() ?? task;
        const parameters = { text_type: 'PlainText', voice: 'v', enable_ssml: random() < 0.1 };
        frame('run-task', {
          task_group: 'audio',
          task: 'tts',
          function: 'SpeechSynthesizer',
          parameters,
          input: {},
        });
      };
      const sendText = () => frame('continue-task', { input: { text: 'x'.repeat(below(12)) } });
      const finish = () => frame('finish-task', { input: {} });
      for (let step = 3 + below(20), next: Action = 'run'; step > 0; step -= 1) {
        if (client.socket.readyState !== client.socket.OPEN) break;
        // Mostly in order, since any other frame ends the socket.
        for (let trips = random() < 0.9 ? 20 : 0; trips > 0 && client.events.length === seen; trips -= 1)
          await flushFrames([client.socket, ...upstream.connections.slice(-1).map(({ socket }) => socket)]);
        seen = client.events.length;
        const acts: Record<Action, () => void> = { run, sendText, finish };
        if (random() < 0.93) acts[next]();
        else
          pick<() => unknown>(
            run,
            sendText,
            finish,
            () => frame('continue-task', { input: {} }),
            () => client.send(pick('{', '{}', '[]')),
            () => client.socket.send(Buffer.from([1])),
            () => client.socket.close(),
            () => client.socket.terminate(),
            () => target.timers.advance(pick(10_000, 24_000, 61_000)),
          )();
        next = next === 'finish' ? 'run' : pick<Action>('sendText', 'sendText', 'finish');
      }
      if (random() < 0.5) await flushFrames([client.socket]);
      spent += await expectBalanced(token, quota, validateInferenceServerEvent);
      upstream.connections.length = 0;
    }
    expect(spent).toBeGreaterThan(0);
  });
});

type Action = 'run' | 'sendText' | 'finish';
