import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AbortError, ConnectionError, TimeoutError, Unigate } from '../../client/index.ts';
import { json, silence, stall, stubClient } from './stub-fetch.ts';
import { startStubServer } from './stub-server.ts';

const speech = { model: 'voxa-v2', voice: 'voxanna', input: 'Hello.' };
const settled = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

describe('timeout', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('applies to the response, and the request is retried', async () => {
    const { client, times } = stubClient([silence, silence, silence], { timeout: 1_000 });
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const outcome = settled(client.models.list());
    await vi.runAllTimersAsync();
    expect(await outcome).toMatchObject({
      constructor: TimeoutError,
      message: 'No complete response within 1000 ms.',
    });
    expect(times.map((time) => time - (times[0] ?? 0))).toEqual([0, 1_500, 3_500]);
  });

  test('applies to the whole response body', async () => {
    const { client } = stubClient([stall('{"object":')], { timeout: 1_000 });
    const outcome = settled(client.models.list());
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await outcome).toBeInstanceOf(TimeoutError);
  });

  test('applies to the whole audio', async () => {
    const { client } = stubClient([stall('RIFF', { 'content-type': 'audio/wav' })]);
    const audio = await client.speech.create(speech, { timeout: 50 });
    const outcome = settled(audio.bytes());
    await vi.advanceTimersByTimeAsync(50);
    expect(await outcome).toBeInstanceOf(TimeoutError);
  });

  test('applies only to the start of a stream', async () => {
    const { client } = stubClient([stall('RIFF')], { timeout: 50 });
    const audio = await client.speech.create({ ...speech, stream: true });
    const reader = audio.stream().getReader();
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect((await reader.read()).value).toHaveLength(4);
    await reader.cancel();
  });

  test('applies to the body of an error, also for a stream', async () => {
    const errorBody = stall('{"error":', { 'content-type': 'application/json' }, 400);
    const { client } = stubClient([errorBody, errorBody, errorBody], { timeout: 50 });
    for (const call of [
      () => client.speech.create({ ...speech, stream: true }),
      () => client.speech.events(speech)[Symbol.asyncIterator]().next(),
      () => client.http.GET('/v1/models', { parseAs: 'stream' }),
    ]) {
      const outcome = settled(call());
      await vi.advanceTimersByTimeAsync(50);
      expect(await outcome).toBeInstanceOf(TimeoutError);
    }
  });

  test('of the raw client applies to the body, except for a stream', async () => {
    const { client } = stubClient([stall('{'), stall('{')], { maxRetries: 0 });
    const whole = settled(client.http.GET('/v1/models', { timeout: 50 }));
    await vi.advanceTimersByTimeAsync(50);
    expect(await whole).toBeInstanceOf(TimeoutError);

    const { data } = await client.http.GET('/v1/models', { timeout: 50, parseAs: 'stream' });
    await vi.advanceTimersByTimeAsync(1_000_000);
    const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = data?.getReader();
    expect((await reader?.read())?.value).toHaveLength(1);
  });

  test('leaves no timer behind', async () => {
    const { client } = stubClient([json({ data: [] })]);
    await client.models.list();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('abort', () => {
  test('before the call sends nothing', async () => {
    const { client, fetch } = stubClient([]);
    await expect(client.models.list({ signal: AbortSignal.abort('no') })).rejects.toThrow(AbortError);
    expect(fetch).not.toHaveBeenCalled();
  });

  test('while the gateway works', async () => {
    const stop = new AbortController();
    const closed = Promise.withResolvers<void>();
    const url = await startStubServer((_, response) => {
      response.once('close', closed.resolve);
      stop.abort();
    });
    const client = new Unigate({ baseUrl: url, apiKey: 'sk-test' });
    await expect(client.models.list({ signal: stop.signal })).rejects.toThrow(AbortError);
    await closed.promise;
  });

  test('during the events ends the loop with AbortError', async () => {
    const url = await startStubServer(
      (_, response) => void response.write('data:{"n":1}\n\ndata:{"n":2}\n\n'),
    );
    const client = new Unigate({ baseUrl: url, apiKey: 'sk-test' });
    const stop = new AbortController();
    const received: unknown[] = [];
    const loop = async () => {
      for await (const event of client.speech.events(speech, { signal: stop.signal })) {
        received.push(event);
        if (received.length === 2) stop.abort();
      }
    };
    await expect(loop()).rejects.toThrow(AbortError);
    expect(received).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test('leaving the loop closes the connection', async () => {
    const closed = Promise.withResolvers<void>();
    const url = await startStubServer((_, response) => {
      response.once('close', closed.resolve);
      response.write('data:{"n":1}\n\n');
    });
    const client = new Unigate({ baseUrl: url, apiKey: 'sk-test' });
    for await (const _ of client.speech.events(speech)) break;
    await closed.promise;
  });

  test('leaving the audio loop early closes the connection', async () => {
    const closed = Promise.withResolvers<void>();
    const url = await startStubServer((_, response) => {
      response.once('close', closed.resolve);
      response.write('RIFF');
    });
    const client = new Unigate({ baseUrl: url, apiKey: 'sk-test' });
    for await (const _ of await client.speech.create(speech)) break;
    await closed.promise;
  });
});

describe('connection', () => {
  test('failures contain the reason and not the key', async () => {
    const url = await startStubServer((request) => void request.socket.destroy());
    const client = new Unigate({ baseUrl: url, apiKey: 'sk-secret', maxRetries: 0 });
    const error = await settled(client.models.list());
    expect(error).toBeInstanceOf(ConnectionError);
    expect(String(error)).toMatch(
      /^ConnectionError: The connection to http:\/\/127\.0\.0\.1:\d+ failed: \S.*\.$/,
    );
    expect(inspect(error, { depth: 9 })).not.toContain('sk-secret');
  });

  test('failures during the audio are not retried', async () => {
    let requested = 0;
    let cut = () => {};
    const url = await startStubServer((request, response) => {
      requested++;
      cut = () => void request.socket.destroy();
      response.writeHead(200, { 'content-type': 'audio/wav', 'content-length': 1_000 });
      response.write('RIFF');
    });
    const client = new Unigate({ baseUrl: url, apiKey: 'sk-test' });
    const audio = await client.speech.create(speech);
    const reader = audio.stream().getReader();
    expect((await reader.read()).value).toHaveLength(4);
    cut();
    await expect(reader.read()).rejects.toThrow(ConnectionError);
    expect(requested).toBe(1);
  });
});

test('a signal aborts the call after garbage collection', async () => {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('there is no garbage collector to call');
  for (const responds of [false, true]) {
    const requested = Promise.withResolvers<void>();
    const url = await startStubServer((_, response) => {
      if (responds) response.writeHead(200, { 'content-type': 'application/json' }).write('{');
      requested.resolve();
    });
    const stop = new AbortController();
    const client = new Unigate({ baseUrl: url, apiKey: 'sk-test', maxRetries: 0 });
    const outcome = settled(client.models.list({ signal: stop.signal, timeout: 15_000 }));
    await requested.promise;
    for (let round = 0; round < 5; round += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    stop.abort();
    expect(await outcome).toBeInstanceOf(AbortError);
  }
});
