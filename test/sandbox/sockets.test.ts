import { EventEmitter } from 'node:events';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { startSandbox } from '../../server/sandbox/sandbox.ts';
import { Connection } from '../../server/sandbox/sockets/connection.ts';
import { SpeechStream } from '../../server/sandbox/speech/engine.ts';
import { InferenceClient } from './inference-client.ts';
import { RealtimeClient } from './realtime-client.ts';
import { useSandbox } from './sandbox-client.ts';

const client = useSandbox();
const model = 'alpha3-tts-flash-realtime';
const id = '5d2f0c3e8b7a4f169a3d2c1b0e9f8a7d';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function holdTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
}

/** Advances the clock of the server after it has read all sent frames. */
async function pass(socket: InferenceClient | RealtimeClient, milliseconds: number): Promise<void> {
  await socket.roundTrip();
  vi.advanceTimersByTime(milliseconds);
}

async function expectOpen(socket: InferenceClient | RealtimeClient): Promise<void> {
  await socket.roundTrip();
  expect(socket.pendingFrames).toBe(0);
}

describe('the inference socket', () => {
  test('fails a task 23 seconds after its last text', async () => {
    holdTime();
    const socket = await new InferenceClient(client.sandbox).opened();
    socket.run(id, {});
    await socket.until('task-started');
    await pass(socket, 22_999);
    socket.continue(id, ' ');
    await pass(socket, 22_999);
    await expectOpen(socket);
    vi.advanceTimersByTime(1);
    const { last } = await socket.until('task-failed');
    expect(last.header).toMatchObject({
      error_code: 'CLIENT_ERROR',
      error_message: expect.stringContaining('23 sec'),
    });
    expect(await socket.closed).toEqual({ code: 1000, reason: 'timeout' });
  });

  test('has no text timeout after finish-task', async () => {
    holdTime();
    const socket = await new InferenceClient(client.sandbox).opened();
    socket.run(id, { format: 'pcm' });
    socket.continue(id, 'One sentence after another. '.repeat(10));
    socket.finish(id);
    await socket.until('sentence-begin');
    await pass(socket, 59_000);
    expect((await socket.until('task-finished')).last.payload).toMatchObject({ usage: { characters: 280 } });
    socket.socket.close();
  });

  test('is closed after 60 seconds without a task, but not during a task', async () => {
    holdTime();
    const socket = await new InferenceClient(client.sandbox).opened();
    await pass(socket, 59_999);
    socket.run(id, { format: 'pcm' });
    await socket.until('task-started');
    await pass(socket, 20_000);
    socket.finish(id);
    await socket.until('task-finished');
    await pass(socket, 59_999);
    await expectOpen(socket);
    vi.advanceTimersByTime(1);
    expect(await socket.closed).toEqual({ code: 1000, reason: 'idle' });
  });
});

describe('the realtime socket', () => {
  test('is closed after 60 seconds without a frame in either direction', async () => {
    holdTime();
    const socket = new RealtimeClient(client.sandbox, model);
    await socket.expect('session.created');
    await pass(socket, 59_999);
    socket.emit('response.cancel');
    await pass(socket, 59_999);
    await expectOpen(socket);
    vi.advanceTimersByTime(1);
    expect(await socket.closed).toEqual({ code: 1000, reason: 'idle' });
  });

  test('stays open while it hangs', async () => {
    holdTime();
    const socket = new RealtimeClient(client.sandbox, model);
    await socket.configure({ voice: 'Aria' });
    socket.append('[[hang]] now.');
    await pass(socket, 600_000);
    await expectOpen(socket);
    socket.socket.close();
  });
});

test('the timeouts are configurable', async () => {
  const sandbox = await startSandbox({ key: 'k', timeoutsMs: { text: 5, idle: 10_000 } });
  const socket = await new InferenceClient(sandbox).opened();
  socket.run(id, {});
  await socket.until('task-failed');
  expect(await socket.closed).toMatchObject({ reason: 'timeout' });
  await sandbox.close();
});

test('closing the sandbox terminates its sockets', async () => {
  const sandbox = await startSandbox({ key: 'k' });
  const socket = new RealtimeClient(sandbox, model);
  await socket.configure({ voice: 'Aria' });
  socket.append('A sentence that is never finished. '.repeat(100));
  await socket.until('response.created');
  await sandbox.close();
  expect(await socket.closed).toMatchObject({ code: 1006 });
});

describe('a client that disconnects', () => {
  const text = 'One sentence after another. '.repeat(200);

  test.each<[string, () => Promise<{ socket: WebSocket }>]>([
    [
      'realtime',
      async () => {
        const socket = new RealtimeClient(client.sandbox, model);
        await socket.configure({ voice: 'Aria' });
        socket.append(text);
        await socket.until('response.audio.delta');
        return socket;
      },
    ],
    [
      'inference',
      async () => {
        const socket = await new InferenceClient(client.sandbox).opened();
        socket.run(id, { format: 'pcm' });
        socket.continue(id, text);
        await socket.until('audio');
        return socket;
      },
    ],
  ])('ends the synthesis: %s', async (_protocol, begin) => {
    const spoken = vi.spyOn(SpeechStream.prototype, 'speak');
    const closed = vi.spyOn(SpeechStream.prototype, 'close');
    const { socket } = await begin();
    socket.terminate();
    await vi.waitUntil(() => closed.mock.calls.length > 0);
    expect(spoken.mock.calls.length).toBeLessThan(100);
  });
});

describe('a client that reads slowly', () => {
  class SlowSocket extends EventEmitter {
    readonly OPEN = 1;
    readyState = 1;
    bufferedAmount = 0;
    readonly #unread: (() => void)[] = [];

    send(data: string, flushed: () => void): void {
      this.bufferedAmount += data.length;
      this.#unread.push(() => {
        this.bufferedAmount -= data.length;
        flushed();
      });
    }

    /** Reads the oldest frame. */
    read(): void {
      this.#unread.shift()?.();
    }
  }

  function connect() {
    const socket = new SlowSocket();
    return { socket, connection: new Connection(socket as unknown as WebSocket) };
  }

  test('pauses the synthesis until the client has read enough', async () => {
    const { socket, connection } = connect();
    connection.send('a'.repeat(1000));
    connection.send('a'.repeat(256 * 1024 - 1000));
    await connection.waitUntilWritable();
    connection.send('a'.repeat(1001));
    const resumed = vi.fn();
    const writable = connection.waitUntilWritable().then(resumed);
    socket.read();
    await new Promise(setImmediate);
    expect(resumed).not.toHaveBeenCalled();
    socket.read();
    await writable;
  });

  test('stops the synthesis when the client disconnects', async () => {
    const { socket, connection } = connect();
    connection.send('a'.repeat(1024 * 1024));
    const writable = connection.waitUntilWritable();
    socket.emit('close');
    await expect(writable).rejects.toThrow('The socket is closed');
  });
});
