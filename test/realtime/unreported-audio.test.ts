import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ledgerRowsWithIds, makeKey, remainingQuota } from '../server/ledger.ts';
import { disableToken } from '../store/ledger.ts';
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
import { event } from './inference-script.ts';
import { realtimeScript } from './realtime-script.ts';
import { type SocketGateway, startSocketGateway } from './start.ts';

const text = 'Three of three chunks.';
const quota = 5000;
const taskId = '5d2f0c3e8b7a4f169a3d2c1b0e9f8a7d';

/** Synthesizes every text without a usage report. */
const withoutReports: Script = {
  ...realtimeScript(),
  frame(connection, frame) {
    if (frame.type === 'session.update')
      connection.send({ event_id: 'u', type: 'session.updated', session: { voice: 'Aria' } });
    if (frame.type !== 'input_text_buffer.append') return;
    for (let chunk = 0; chunk < 3; chunk += 1)
      connection.send({ event_id: `p${chunk}`, type: 'response.audio.delta', delta: 'AAABAAIA' });
  },
};
const taskWithoutReports: Script = {
  frame(connection, frame) {
    const { action, task_id: id } = frame.header as { action: string; task_id: string };
    if (action === 'run-task') connection.send(event(id, 'task-started', {}));
    if (action !== 'continue-task') return;
    for (let chunk = 0; chunk < 3; chunk += 1) {
      const output = { type: 'sentence-synthesis', sentence: { index: 0, words: [] } };
      connection.send(event(id, 'result-generated', { output }));
      connection.socket.send(Buffer.from([1, 2, 3]));
    }
  },
};

describe('audio without a report', () => {
  let upstream: SocketUpstream;
  let target: SocketGateway;
  let client: SocketClient;
  let token: { key: string; id: number; userId: number };

  beforeAll(async () => {
    upstream = await startSocketUpstream();
    target = await startSocketGateway({
      channels: [channelTo(upstream.url)],
      prices: { '*': 1, 'alpha3-*': 2, 'voxa-*': 2 },
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

  const kinds = {
    realtime: {
      path: '/v1/realtime?model=alpha3-tts-flash-realtime',
      script: withoutReports,
      // Two per character.
      price: text.length * 2,
      finish: { event_id: 'f', type: 'session.finish' },
      async start() {
        client.send({ event_id: 'a', type: 'session.update', session: { voice: 'Aria' } });
        await client.next(({ type }) => type === 'session.updated');
        client.send({ event_id: 'b', type: 'input_text_buffer.append', text });
        await client.next(({ event_id: id }) => id === 'p2');
      },
    },
    legacy: {
      path: '/v1/realtime?model=alpha-tts-realtime',
      script: withoutReports,
      // A token for each 4 bytes, and the minimum for audio.
      price: Math.ceil(text.length / 4) + 50,
      finish: { event_id: 'f', type: 'session.finish' },
      start: () => kinds.realtime.start(),
    },
    inference: {
      path: '/api-ws/v1/inference?model=voxa-v1',
      script: taskWithoutReports,
      price: text.length * 2,
      finish: frameOf('finish-task', { input: {} }),
      async start() {
        const parameters = { text_type: 'PlainText', voice: 'v' };
        const task = { task_group: 'audio', task: 'tts', function: 'SpeechSynthesizer' };
        client.send(frameOf('run-task', { ...task, parameters, input: {} }));
        await client.next(({ header }) => (header as Frame).event === 'task-started');
        client.send(frameOf('continue-task', { input: { text } }));
        await vi.waitFor(() => expect(client.audio).toHaveLength(3));
      },
    },
  };
  type Kind = keyof typeof kinds;

  /** Receives all three audio chunks of a text without a report. */
  const receiveAudio = async (kind: Kind, autoPong = true, script = kinds[kind].script) => {
    upstream.script = script;
    token = await makeKey(target, { quota });
    client = await connect(target.url + kinds[kind].path, { key: token.key, autoPong });
    client.socket.on('error', () => {});
    await kinds[kind].start();
    await flushFrames(upstream.connections.map(({ socket }) => socket));
  };
  const raw = () => Reflect.get(client.socket, '_socket') as Socket;
  const advance = (ms: number) =>
    elapse(target.timers, ms, () => upstream.connections.map(({ socket }) => socket));
  const charged = () =>
    vi.waitFor(async () => {
      const rows = (await ledgerRowsWithIds(target)).filter(({ tokenId }) => tokenId === token.id);
      expect(rows.map(({ state }) => state)).not.toContain('open');
      expect(rows).toHaveLength(1);
      return rows[0]?.charged;
    });

  /** Ways in which a client disconnects or is disconnected, for the test titles. */
  const disconnects: [string, (kind: Kind) => unknown][] = [
    ['closes', () => client.socket.close(1000)],
    ['closes without a code', () => client.socket.close()],
    ['closes with a code of its own', () => client.socket.close(4000, 'enough')],
    ['drops the connection', () => client.socket.terminate()],
    ['resets the connection', () => raw().resetAndDestroy()],
    ['half-closes the connection', () => raw().end()],
    [
      'requests the finish and closes',
      (kind) => {
        client.send(kinds[kind].finish);
        client.socket.close();
      },
    ],
    [
      'requests the finish and drops the connection',
      async (kind) => {
        client.send(kinds[kind].finish);
        await flushFrames([client.socket]);
        client.socket.terminate();
      },
    ],
    ['sends a binary frame', () => client.socket.send(Buffer.from([1]))],
    ['sends more than 1 MiB', () => client.socket.send('x'.repeat(1024 * 1024 + 1))],
    ['sends invalid UTF-8', () => client.socket.send(Buffer.from([0xc3, 0x28]), { binary: false })],
    ['violates the WebSocket protocol', () => raw().write(Buffer.from([0xff, 0xff, 0xff]))],
    [
      'exceeds its quota',
      (kind) => {
        const more = 'x'.repeat(9000);
        client.send(
          kind === 'inference'
            ? frameOf('continue-task', { input: { text: more } })
            : { event_id: 'more', type: 'input_text_buffer.append', text: more },
        );
      },
    ],
    [
      'loses its key',
      async () => {
        await disableToken(target.gateway.store, token);
        await advance(30_000);
      },
    ],
    ['is idle', () => advance(60_000)],
  ];

  describe.each(['realtime', 'inference'] as const)('%s', (kind) => {
    test.each(disconnects)(
      'a client that %s is charged for the audio it received',
      async (_name, disconnect) => {
        await receiveAudio(kind);
        await disconnect(kind);
        expect(await charged()).toBe(kinds[kind].price);
        expect(await remainingQuota(target, token.id)).toBe(quota - kinds[kind].price);
        await vi.waitFor(() => expect(upstream.connections[0]?.closeCode).toBe(1000));
      },
    );

    test('a client that does not answer pings is charged for the audio it received', async () => {
      await receiveAudio(kind, false);
      // The provider keeps sending, so that no side is idle.
      for (let beat = 0; beat < 3; beat += 1) {
        target.timers.advance(20_000);
        await flushFrames(upstream.connections.map(({ socket }) => socket));
        const [connection] = upstream.connections;
        connection?.send(kind === 'inference' ? event(taskId, 'x', {}) : { event_id: 'x', type: 'x' });
        if (kind === 'inference') client.send(frameOf('continue-task', { input: {} }));
      }
      await advance(30_000);
      expect(await charged()).toBe(kinds[kind].price);
    });

    test('a client that does not read is charged for the audio sent to it', async () => {
      await receiveAudio(kind);
      client.socket.pause();
      const [connection] = upstream.connections;
      const audio = Buffer.alloc(64 * 1024);
      const chunk =
        kind === 'inference'
          ? audio
          : JSON.stringify({ event_id: 'x', type: 'response.audio.delta', delta: audio.toString('base64') });
      for (let sent = 0; sent < 48 * 1024 * 1024; sent += audio.length) connection?.socket.send(chunk);
      let before = 0;
      await vi.waitFor(
        () => {
          const buffered = connection?.socket.bufferedAmount ?? 0;
          const isMoving = buffered !== before;
          before = buffered;
          expect(isMoving).toBe(false);
        },
        { timeout: 15_000 },
      );
      for (let beat = 0; beat < 4; beat += 1) {
        target.timers.advance(30_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await charged()).toBeGreaterThanOrEqual(kinds[kind].price);
    });

    /** Failures of a provider that end the socket. */
    const failures: [string, (connection: UpstreamConnection) => unknown][] = [
      ['drops the connection', ({ socket }) => socket.terminate()],
      ['closes', ({ socket }) => socket.close(1000)],
      ['closes with 1013', ({ socket }) => socket.close(1013)],
      ['sends invalid JSON', ({ socket }) => socket.send('{')],
      [
        'sends nothing for 60 seconds',
        async ({ socket }) => {
          socket.removeAllListeners('message');
          client.send(kinds[kind].finish);
          await flushFrames([client.socket]);
          await advance(61_000);
        },
      ],
    ];
    test.each(failures)('a provider that %s is charged only as far as it reported', async (_name, fail) => {
      await receiveAudio(kind);
      const [connection] = upstream.connections;
      if (connection !== undefined) await fail(connection);
      expect(await charged()).toBeNull();
      expect(await remainingQuota(target, token.id)).toBe(quota);
    });

    test('a gateway that shuts down charges only reported usage', async () => {
      const added = vi.spyOn(target.running.sockets, 'add');
      await receiveAudio(kind);
      added.mock.calls.at(-1)?.[0].shutDown();
      expect(await charged()).toBeNull();
    });
  });

  test('a client of a legacy model is charged in tokens for the audio it received', async () => {
    await receiveAudio('legacy');
    client.socket.terminate();
    expect(await charged()).toBe(kinds.legacy.price);
  });

  test('a duplex client that sends no text for 23 seconds is charged for the audio it received', async () => {
    await receiveAudio('inference');
    await advance(23_000);
    expect(await charged()).toBe(kinds.inference.price);
  });

  test('a duplex client whose text the provider refuses is charged for the audio it received', async () => {
    await receiveAudio('inference');
    upstream.connections[0]?.send({
      header: { task_id: taskId, event: 'task-failed', error_code: 'InvalidParameter', error_message: 'no' },
      payload: {},
    });
    expect(await charged()).toBe(kinds.inference.price);
  });

  test('text without audio is not charged', async () => {
    await receiveAudio('realtime');
    client.send({ event_id: 'c', type: 'response.cancel' });
    upstream.connections[0]?.socket.removeAllListeners('message');
    client.send({ event_id: 'd', type: 'input_text_buffer.append', text: 'x'.repeat(200) });
    await vi.waitFor(async () => {
      const row = await target.gateway.store.read
        .selectFrom('ledger')
        .select('reserved')
        .where('token_id', '=', token.id)
        .executeTakeFirst();
      expect(row?.reserved).toBe(1000);
    });
    await flushFrames([client.socket]);
    client.socket.terminate();
    expect(await charged()).toBe(kinds.realtime.price);
  });
});

function frameOf(action: string, payload: object): object {
  return { header: { action, task_id: taskId, streaming: 'duplex' }, payload };
}
