import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { AbortError, ConnectionError, RateLimitError } from '../../client/index.ts';
import { json, stubClient } from './stub-fetch.ts';

const list = json({ object: 'list', data: [] });
const failed = (status: number, headers: Record<string, string> = {}) =>
  json({ error: { code: 'failed', message: 'Failed.', request_id: 'req_1' } }, status, headers);
const unreachable = () => Promise.reject(new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }));

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Runs `listModels` to its end on the fake clock. Returns the outcome and the delays between the requests. */
async function play(...[responders, options]: Parameters<typeof stubClient>) {
  const { client, times, fetch } = stubClient(responders, options);
  const outcome = client.models.list().then(
    (models) => models,
    (error: unknown) => error,
  );
  await vi.runAllTimersAsync();
  const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  return { outcome: await outcome, waits, requests: fetch.mock.calls.length };
}

describe('a request is retried', () => {
  test.each([408, 409, 429, 500, 502, 503, 504])('twice after %i', async (status) => {
    const { outcome, requests } = await play([failed(status), failed(status), failed(status)]);
    expect(outcome).toMatchObject({ status });
    expect(requests).toBe(3);
  });

  test.each([400, 401, 403, 404, 413, 415, 422, 501])('not after %i', async (status) => {
    const { outcome, requests } = await play([failed(status)]);
    expect(outcome).toMatchObject({ status });
    expect(requests).toBe(1);
  });

  test('after a connection error, until a response arrives', async () => {
    const { outcome, waits } = await play([unreachable, unreachable, list]);
    expect(outcome).toEqual([]);
    expect(waits).toEqual([500, 1_000]);
  });

  test('and then throws the last error', async () => {
    const { outcome } = await play([unreachable, unreachable, unreachable]);
    expect(outcome).toBeInstanceOf(ConnectionError);
    expect((outcome as Error).message).toBe(
      'The connection to http://gateway.example failed: no server accepts connections there (ECONNREFUSED).',
    );
  });

  test('as x-should-retry decides', async () => {
    expect((await play([failed(500, { 'x-should-retry': 'false' })])).requests).toBe(1);
    expect((await play([failed(400, { 'x-should-retry': 'true' }), list])).outcome).toEqual([]);
  });

  test('maxRetries times, for the client and for one call', async () => {
    const five = Array.from({ length: 5 }, () => failed(503));
    expect((await play(five, { maxRetries: 4 })).requests).toBe(5);
    expect((await play(five, { maxRetries: 0 })).requests).toBe(1);

    const { client, fetch } = stubClient([failed(503), list]);
    const raw = client.http.GET('/v1/models', { maxRetries: 1 });
    await vi.runAllTimersAsync();
    expect((await raw).data).toEqual({ object: 'list', data: [] });
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  test('with the same body', async () => {
    const { client, bodies } = stubClient([failed(500), unreachable, json({ output: {} })]);
    const body = { model: 'voxa-v2', input: { text: 'Über 日本', voice: 'voxanna' } };
    const call = client.speech.synthesize(body);
    await vi.runAllTimersAsync();
    await call;
    expect(bodies).toEqual(Array.from({ length: 3 }, () => JSON.stringify(body)));
  });

  test('not after the response body has started', async () => {
    const broken = () => {
      let pulls = 0;
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
        if (pulls++ === 0) controller.enqueue(new Uint8Array(8));
        else controller.error(new TypeError('terminated', { cause: new Error('other side closed') }));
      };
      return new Response(new ReadableStream({ pull }), { headers: { 'content-type': 'audio/wav' } });
    };
    const { client, fetch } = stubClient([broken, list]);
    const audio = await client.speech.create({ model: 'm', voice: 'v', input: 'i' });
    await expect(audio.bytes()).rejects.toThrow(
      new ConnectionError('The connection to http://gateway.example failed: other side closed.'),
    );
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});

describe('the delay before a retry', () => {
  test('doubles from 0.5 s to 8 s, minus a random part of up to 25 %', async () => {
    const many = Array.from({ length: 7 }, () => failed(500));
    expect((await play(many, { maxRetries: 6 })).waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000]);
    vi.mocked(Math.random).mockReturnValue(1);
    expect((await play(many, { maxRetries: 6 })).waits).toEqual([375, 750, 1_500, 3_000, 6_000, 6_000]);
  });

  test.each([
    ['retry-after in seconds', { 'retry-after': '7' }, 7_000],
    [
      'retry-after as a date',
      { 'retry-after': new Date(Date.UTC(2026, 0, 1, 0, 0, 9)).toUTCString() },
      9_000,
    ],
    ['a date that is over', { 'retry-after': new Date(0).toUTCString() }, 0],
    ['retry-after-ms', { 'retry-after-ms': '42' }, 42],
    ['retry-after-ms before retry-after', { 'retry-after-ms': '42', 'retry-after': '7' }, 42],
    ['zero', { 'retry-after': '0' }, 0],
    ['up to 60 s', { 'retry-after': '60' }, 60_000],
    ['the backoff when the header is no time', { 'retry-after': 'soon' }, 500],
    ['the backoff when the header is negative', { 'retry-after': '-5' }, 500],
  ])('%s', async (_, headers, milliseconds) => {
    const { outcome, waits } = await play([failed(429, headers), list]);
    expect(outcome).toEqual([]);
    expect(waits).toEqual([milliseconds]);
  });

  test.each([
    ['retry-after', '61'],
    ['retry-after-ms', '60001'],
  ])('prevents a retry for %s: %s', async (name, value) => {
    const { outcome, requests } = await play([failed(429, { [name]: value })]);
    expect(outcome).toBeInstanceOf(RateLimitError);
    expect((outcome as RateLimitError).headers.get(name)).toBe(value);
    expect(requests).toBe(1);
  });

  test('ends at once on an abort', async () => {
    const { client, fetch } = stubClient([failed(500, { 'retry-after': '30' }), list]);
    const stop = new AbortController();
    const call = client.models.list({ signal: stop.signal });
    const outcome = call.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10_000);
    stop.abort('enough');
    expect(await outcome).toMatchObject({ constructor: AbortError, cause: 'enough' });
    expect(vi.getTimerCount()).toBe(0);
    expect(fetch).toHaveBeenCalledTimes(1);
  });
  test('does not start after an abort', async () => {
    const stop = new AbortController();
    const { client } = stubClient([
      () => {
        stop.abort();
        return Response.json({}, { status: 500 });
      },
    ]);
    await expect(client.models.list({ signal: stop.signal })).rejects.toThrow(AbortError);
    expect(vi.getTimerCount()).toBe(0);
  });
});
