import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  AbortError,
  BadRequestError,
  NotFoundError,
  ServiceUnavailableError,
  TaskFailedError,
  TimeoutError,
  type Unigate,
  UnigateError,
} from '../../client/index.ts';
import { json, silence, stubClient } from './stub-fetch.ts';

const id = 'task_1';
const request = { model: 'gamma3.0-video-prime', prompt: 'A boat.' };
const video_url = 'https://files.example/boat.mp4';
const task = (status: string, progress: number, more: object = {}) =>
  ({
    id,
    task_id: id,
    object: 'video',
    status,
    model: request.model,
    progress,
    created_at: 1,
    ...more,
  }) as const;
const queued = json(task('queued', 0));
const running = json(task('in_progress', 50));
const completed = json(task('completed', 100, { video_url, completed_at: 2 }));
const refused = (status: number, headers: Record<string, string> = {}) =>
  json({ error: { code: 'no', message: 'No.', request_id: 'req_1' } }, status, headers);
const unreachable = () => Promise.reject(new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }));

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) }));
afterEach(() => void vi.useRealTimers());

type Turns = Parameters<typeof stubClient>[0];
type Options = NonNullable<Parameters<Unigate['videos']['waitFor']>[1]>;

/** Waits for the task on the fake clock. Returns the outcome and the milliseconds between the polls. */
async function play(responders: Turns, options: Options = {}) {
  const { client, times, fetch } = stubClient(responders);
  const outcome = client.videos.waitFor(id, options).catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(vi.getTimerCount()).toBe(0);
  return { outcome: await outcome, waits, requests: fetch.mock.calls.length };
}

describe('the poll interval', () => {
  test('starts at 1 s and grows to 15 s', async () => {
    const { outcome, waits } = await play([...Array.from({ length: 10 }, () => running), completed]);
    expect(outcome).toMatchObject({ status: 'completed', video_url });
    expect(waits.map(Math.floor)).toEqual([
      1_000, 1_500, 2_250, 3_375, 5_062, 7_593, 11_390, 15_000, 15_000, 15_000,
    ]);
  });

  test('is pollIntervalMs if given', async () => {
    const { waits } = await play([running, running, running, completed], { pollIntervalMs: 40 });
    expect(waits).toEqual([40, 40, 40]);
  });

  test.each([
    ['a task', json(task('queued', 0), 200, { 'retry-after': '7' }), 7_000],
    ['a errorBody', refused(429, { 'retry-after': '7' }), 7_000],
    ['a errorBody that asks for more than a minute', refused(503, { 'retry-after': '3600' }), 60_000],
    ['a task that asks for less than is due', json(task('queued', 0), 200, { 'retry-after': '0' }), 1_000],
  ])('follows retry-after of %s', async (_, turn, milliseconds) => {
    const { outcome, waits } = await play([turn, completed]);
    expect(outcome).toMatchObject({ status: 'completed' });
    expect(waits).toEqual([milliseconds]);
  });

  test.each([
    { pollIntervalMs: 0 },
    { pollIntervalMs: -1 },
    { pollIntervalMs: Number.NaN },
    { timeoutMs: 0 },
  ])('rejects %o and sends nothing', async (options) => {
    const { client, fetch } = stubClient([]);
    const [name] = Object.keys(options);
    await expect(client.videos.createAndWait(request, options)).rejects.toThrow(
      new UnigateError(`${name} must be a number above 0.`),
    );
    expect(fetch).not.toHaveBeenCalled();
  });
});

describe('progress', () => {
  test('is reported when it changes, and never decreases', async () => {
    const percents = [0, 0, 10, 5, 30, 20, 30];
    const responders = percents.map((percent, index) =>
      json(task(index < 2 ? 'queued' : 'in_progress', percent)),
    );
    const reported: [string, number | undefined][] = [];
    await play([...responders, completed], {
      onProgress: ({ id: told_id, status, percent, task: { progress } }) => {
        expect(told_id).toBe(id);
        expect(progress).toBeTypeOf('number');
        reported.push([status, percent]);
      },
    });
    expect(reported).toEqual([
      ['queued', 0],
      ['in_progress', 10],
      ['in_progress', 30],
      ['completed', 100],
    ]);
  });

  test('is reported for a failed task before the error', async () => {
    const reported: string[] = [];
    const failed = json(task('failed', 40, { error: { code: 'c', message: 'm' } }));
    await play([running, failed], {
      onProgress: ({ status, percent }) => reported.push(`${status} ${percent}`),
    });
    expect(reported).toEqual(['in_progress 50', 'failed 50']);
  });

  test('throws what the listener throws', async () => {
    const wrong = new RangeError('mine');
    const { outcome, requests } = await play([running], {
      onProgress: () => {
        throw wrong;
      },
    });
    expect(outcome).toBe(wrong);
    expect(requests).toBe(1);
  });
});

describe('the end of the wait', () => {
  test('is a typed error with the failed task', async () => {
    const body = task('failed', 40, { error: { code: 'content_moderated', message: 'Held back.' } });
    const { outcome } = await play([running, json(body, 200, { 'x-request-id': 'req_7' })]);
    expect(outcome).toMatchObject({
      constructor: TaskFailedError,
      message: 'Held back.',
      code: 'content_moderated',
      taskId: id,
      requestId: 'req_7',
      task: body,
    });
  });

  test('an abort between two polls', async () => {
    const { client, fetch } = stubClient([running, running]);
    const stop = new AbortController();
    const outcome = client.videos.waitFor(id, { signal: stop.signal }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_200);
    stop.abort('enough');
    expect(await outcome).toMatchObject({
      constructor: AbortError,
      message: 'The wait for task_1 was aborted; the task continues.',
      taskId: id,
      cause: 'enough',
    });
    expect(vi.getTimerCount()).toBe(0);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  test('an abort during a poll', async () => {
    const { client } = stubClient([silence]);
    const stop = new AbortController();
    const outcome = client.videos.waitFor(id, { signal: stop.signal }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(10);
    stop.abort();
    expect(await outcome).toMatchObject({ constructor: AbortError, taskId: id });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('an abort before the first poll sends nothing', async () => {
    const { outcome, requests } = await play([], { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ constructor: AbortError, taskId: id });
    expect(requests).toBe(0);
  });

  test.each([
    ['between two polls', [running, running, running], 3],
    ['in the middle of a poll', [running, running, silence], 3],
    ['when nothing but trouble comes', [refused(503), unreachable, refused(429)], 3],
  ])('timeoutMs, %s', async (_, responders, polls) => {
    const { outcome, requests } = await play(responders, { timeoutMs: 3_000 });
    expect(outcome).toMatchObject({
      constructor: TimeoutError,
      message: 'task_1 did not end within 3000 ms; the task continues.',
      taskId: id,
    });
    expect(requests).toBe(polls);
  });

  test('never comes without timeoutMs while the task runs', async () => {
    const { outcome } = await play([running, completed], { timeoutMs: Infinity });
    expect(outcome).toMatchObject({ status: 'completed' });
  });
});

describe('a failed poll', () => {
  test.each([
    ['408', refused(408)],
    ['429', refused(429)],
    ['500', refused(500)],
    ['503', refused(503)],
    ['no connection', unreachable],
    ["a proxy's page", () => new Response('<html>One moment</html>')],
    ['half an answer', () => new Response('{"id": "ta')],
    ['an answer that is no task', json({})],
    ['null', json(null)],
  ])('is repeated after %s', async (_, turn) => {
    const { outcome, waits } = await play([running, turn, completed]);
    expect(outcome).toMatchObject({ status: 'completed' });
    expect(waits).toEqual([1_000, 1_500]);
  });

  test('is repeated when it takes more than a minute', async () => {
    const { outcome, waits } = await play([silence, completed]);
    expect(outcome).toMatchObject({ status: 'completed' });
    expect(waits).toEqual([61_000]);
  });

  test('continues after a state that is not in the contract', async () => {
    const { outcome } = await play([json(task('paused', 10)), completed]);
    expect(outcome).toMatchObject({ status: 'completed' });
  });

  test.each([
    [404, NotFoundError],
    [400, BadRequestError],
  ])('is final after %i, and has the task id', async (status, Class) => {
    const { outcome, requests } = await play([running, refused(status)]);
    expect(outcome).toMatchObject({ constructor: Class, taskId: id });
    expect(requests).toBe(2);
  });

  test('ends the wait after 10 minutes of failures, with the task id', async () => {
    const { outcome, waits } = await play([running, ...Array.from({ length: 100 }, () => refused(503))]);
    expect(outcome).toMatchObject({ constructor: ServiceUnavailableError, taskId: id });
    const total = waits.reduce((sum, milliseconds) => sum + milliseconds);
    expect(total).toBeGreaterThanOrEqual(600_000);
    expect(total).toBeLessThan(616_000);
  });

  test('restarts the 10 minutes after each successful poll', async () => {
    const trouble = Array.from({ length: 35 }, () => refused(503));
    const { outcome } = await play([...trouble, running, ...trouble, completed]);
    expect(outcome).toMatchObject({ status: 'completed' });
  });
});

describe('create', () => {
  const keysOf = (fetch: ReturnType<typeof stubClient>['fetch']) =>
    fetch.mock.calls.map(([sent]) => sent.headers.get('idempotency-key'));

  test('sends an idempotency key, and the same one in retries', async () => {
    const { client, fetch, bodies } = stubClient([refused(503), unreachable, queued, queued]);
    const first = client.videos.create(request);
    await vi.runAllTimersAsync();
    expect(await first).toMatchObject({ id, status: 'queued' });
    await client.videos.create(request);
    const [name, second, third, other] = keysOf(fetch);
    expect(name).toMatch(/^[0-9a-f]{32}$/);
    expect([second, third]).toEqual([name, name]);
    expect(other).not.toBe(name);
    expect(bodies).toEqual(Array.from({ length: 4 }, () => JSON.stringify(request)));
  });

  test('accepts an idempotency key', async () => {
    const { client, fetch } = stubClient([queued, queued, completed]);
    await client.videos.create(request, { headers: { 'idempotency-key': 'by-header' } });
    await client.videos.createAndWait(request, { idempotencyKey: 'by-option' });
    expect(keysOf(fetch)).toEqual(['by-header', 'by-option', null]);
  });

  test('and wait returns the video', async () => {
    const { client, fetch } = stubClient([queued, queued, running, completed]);
    const outcome = client.videos.createAndWait(request);
    await vi.runAllTimersAsync();
    expect((await outcome).video_url).toBe(video_url);
    expect(fetch.mock.calls.map(([sent]) => `${sent.method} ${new URL(sent.url).pathname}`)).toEqual([
      'POST /v1/videos',
      'GET /v1/videos/task_1',
      'GET /v1/videos/task_1',
      'GET /v1/videos/task_1',
    ]);
  });
});

describe('list', () => {
  const page = (ids: string[], has_more: boolean) =>
    json({
      object: 'list',
      data: ids.map((name) => task('queued', 0, { id: name })),
      first_id: ids[0] ?? null,
      last_id: ids.at(-1) ?? null,
      has_more,
    });
  const idsOf = async (pages: Turns, take = 100) => {
    const { client, fetch } = stubClient(pages);
    const ids: string[] = [];
    for await (const video of client.videos.list({ limit: 2, order: 'asc' })) {
      if (ids.push(video.id) === take) break;
    }
    return { ids, queries: fetch.mock.calls.map(([sent]) => new URL(sent.url).search) };
  };

  test('yields all pages', async () => {
    expect(await idsOf([page(['a', 'b'], true), page(['c', 'd'], true), page([], false)])).toEqual({
      ids: ['a', 'b', 'c', 'd'],
      queries: ['?limit=2&order=asc', '?limit=2&order=asc&after=b', '?limit=2&order=asc&after=d'],
    });
  });

  test('fetches pages only on demand', async () => {
    expect((await idsOf([page(['a', 'b'], true)], 2)).ids).toEqual(['a', 'b']);
  });

  test('ends at a page that refers to itself', async () => {
    expect((await idsOf([page(['a'], true), page(['a'], true)])).ids).toEqual(['a', 'a']);
  });
});

test('delete returns the deleted task', async () => {
  const gone = { id, object: 'video.deleted', deleted: true };
  const { client, fetch } = stubClient([json(gone)]);
  expect(await client.videos.delete(id)).toEqual(gone);
  expect(fetch.mock.calls[0]?.[0].method).toBe('DELETE');
});
