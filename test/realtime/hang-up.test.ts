import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { ledgerRowsWithIds, makeKey, remainingQuota } from '../server/ledger.ts';
import { disableToken } from '../store/books.ts';
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

const text = 'Three of three pieces.';
const quota = 5000;
const taskId = '5d2f0c3e8b7a4f169a3d2c1b0e9f8a7d';

/** Speaks every text, and never tells what it took. */
const untold: Script = {
  ...realtimeScript(),
  frame(connection, frame) {
    if (frame.type === 'session.update')
      connection.send({ event_id: 'u', type: 'session.updated', session: { voice: 'Aria' } });
    if (frame.type !== 'input_text_buffer.append') return;
    for (let piece = 0; piece < 3; piece += 1)
      connection.send({ event_id: `p${piece}`, type: 'response.audio.delta', delta: 'AAABAAIA' });
  },
};
const untoldTask: Script = {
  frame(connection, frame) {
    const { action, task_id: id } = frame.header as { action: string; task_id: string };
    if (action === 'run-task') connection.send(event(id, 'task-started', {}));
    if (action !== 'continue-task') return;
    for (let piece = 0; piece < 3; piece += 1) {
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
      script: untold,
      // Two a character.
      price: text.length * 2,
      finish: { event_id: 'f', type: 'session.finish' },
      async speak() {
        client.send({ event_id: 'a', type: 'session.update', session: { voice: 'Aria' } });
        await client.next(({ type }) => type === 'session.updated');
        client.send({ event_id: 'b', type: 'input_text_buffer.append', text });
        await client.next(({ event_id: id }) => id === 'p2');
      },
    },
    legacy: {
      path: '/v1/realtime?model=alpha-tts-realtime',
      script: untold,
      // A token for 4 bytes, and the least for audio.
      price: Math.ceil(text.length / 4) + 50,
      finish: { event_id: 'f', type: 'session.finish' },
      speak: () => kinds.realtime.speak(),
    },
    inference: {
      path: '/api-ws/v1/inference?model=voxa-v1',
      script: untoldTask,
      price: text.length * 2,
      finish: frameOf('finish-task', { input: {} }),
      async speak() {
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

  /** Hears all three pieces of a text that is not reported. */
  const hear = async (kind: Kind, autoPong = true, script = kinds[kind].script) => {
    upstream.script = script;
    token = await makeKey(target, { quota });
    client = await connect(target.url + kinds[kind].path, { key: token.key, autoPong });
    client.socket.on('error', () => {});
    await kinds[kind].speak();
    await flushFrames(upstream.connections.map(({ socket }) => socket));
  };
  const raw = () => Reflect.get(client.socket, '_socket') as Socket;
  const pass = (ms: number) =>
    elapse(target.timers, ms, () => upstream.connections.map(({ socket }) => socket));
  const charged = () =>
    vi.waitFor(async () => {
      const rows = (await ledgerRowsWithIds(target)).filter(({ tokenId }) => tokenId === token.id);
      expect(rows.map(({ state }) => state)).not.toContain('open');
      expect(rows).toHaveLength(1);
      return rows[0]?.charged;
    });

  /** How a client leaves, or is cut because of what it did; and what the log calls it. */
  const ways: [string, (kind: Kind) => unknown][] = [
    ['closes', () => client.socket.close(1000)],
    ['closes without a code', () => client.socket.close()],
    ['closes with a code of its own', () => client.socket.close(4000, 'enough')],
    ['drops the connection', () => client.socket.terminate()],
    ['resets the connection', () => raw().resetAndDestroy()],
    ['shuts its half of the connection', () => raw().end()],
    [
      'asks for the finish and leaves',
      (kind) => {
        client.send(kinds[kind].finish);
        client.socket.close();
      },
    ],
    [
      'asks for the finish and drops',
      async (kind) => {
        client.send(kinds[kind].finish);
        await flushFrames([client.socket]);
        client.socket.terminate();
      },
    ],
    ['sends a binary frame', () => client.socket.send(Buffer.from([1]))],
    ['sends more than 1 MiB', () => client.socket.send('x'.repeat(1024 * 1024 + 1))],
    ['sends what is not UTF-8', () => client.socket.send(Buffer.from([0xc3, 0x28]), { binary: false })],
    ['breaks the protocol', () => raw().write(Buffer.from([0xff, 0xff, 0xff]))],
    [
      'asks for more than its quota covers',
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
        await pass(30_000);
      },
    ],
    ['falls silent', () => pass(60_000)],
  ];

  describe.each(['realtime', 'inference'] as const)('%s', (kind) => {
    test.each(ways)('a client that %s has paid for what it heard', async (_name, leave) => {
      await hear(kind);
      await leave(kind);
      expect(await charged()).toBe(kinds[kind].price);
      expect(await remainingQuota(target, token.id)).toBe(quota - kinds[kind].price);
      await vi.waitFor(() => expect(upstream.connections[0]?.closeCode).toBe(1000));
    });

    test('a client that does not answer pings has paid for what it heard', async () => {
      await hear(kind, false);
      // The provider has more to say, so that neither side is idle.
      for (let beat = 0; beat < 3; beat += 1) {
        target.timers.advance(20_000);
        await flushFrames(upstream.connections.map(({ socket }) => socket));
        const [connection] = upstream.connections;
        connection?.send(kind === 'inference' ? event(taskId, 'x', {}) : { event_id: 'x', type: 'x' });
        if (kind === 'inference') client.send(frameOf('continue-task', { input: {} }));
      }
      await pass(30_000);
      expect(await charged()).toBe(kinds[kind].price);
    });

    test('a client that does not read has paid for what was sent to it', async () => {
      await hear(kind);
      client.socket.pause();
      const [connection] = upstream.connections;
      const audio = Buffer.alloc(64 * 1024);
      const piece =
        kind === 'inference'
          ? audio
          : JSON.stringify({ event_id: 'x', type: 'response.audio.delta', delta: audio.toString('base64') });
      for (let sent = 0; sent < 48 * 1024 * 1024; sent += audio.length) connection?.socket.send(piece);
      let before = 0;
      await vi.waitFor(
        () => {
          const waits = connection?.socket.bufferedAmount ?? 0;
          const moves = waits !== before;
          before = waits;
          expect(moves).toBe(false);
        },
        { timeout: 15_000 },
      );
      for (let beat = 0; beat < 4; beat += 1) {
        target.timers.advance(30_000);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await charged()).toBeGreaterThanOrEqual(kinds[kind].price);
    });

    /** What a provider does that ends the socket. */
    const failures: [string, (connection: UpstreamConnection) => unknown][] = [
      ['drops the connection', ({ socket }) => socket.terminate()],
      ['closes', ({ socket }) => socket.close(1000)],
      ['closes with 1013', ({ socket }) => socket.close(1013)],
      ['sends nonsense', ({ socket }) => socket.send('{')],
      [
        'sends nothing for 60 seconds',
        async ({ socket }) => {
          socket.removeAllListeners('message');
          client.send(kinds[kind].finish);
          await flushFrames([client.socket]);
          await pass(61_000);
        },
      ],
    ];
    test.each(failures)('a provider that %s is not paid for what it did not report', async (_name, fail) => {
      await hear(kind);
      const [connection] = upstream.connections;
      if (connection !== undefined) await fail(connection);
      expect(await charged()).toBeNull();
      expect(await remainingQuota(target, token.id)).toBe(quota);
    });

    test('a gateway that goes down charges nothing that was not reported', async () => {
      const added = vi.spyOn(target.running.sockets, 'add');
      await hear(kind);
      added.mock.calls.at(-1)?.[0].shutDown();
      expect(await charged()).toBeNull();
    });
  });

  test('a client of a legacy model has paid for what it heard, in tokens', async () => {
    await hear('legacy');
    client.socket.terminate();
    expect(await charged()).toBe(kinds.legacy.price);
  });

  test('a duplex client that sends no text for 23 seconds has paid for what it heard', async () => {
    await hear('inference');
    await pass(23_000);
    expect(await charged()).toBe(kinds.inference.price);
  });

  test('a duplex client whose next text is refused has paid for what it heard', async () => {
    await hear('inference');
    upstream.connections[0]?.send({
      header: { task_id: taskId, event: 'task-failed', error_code: 'InvalidParameter', error_message: 'no' },
      payload: {},
    });
    expect(await charged()).toBe(kinds.inference.price);
  });

  test('text that was not spoken yet is not paid', async () => {
    await hear('realtime');
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
