import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  AbortError,
  ConnectionError,
  InternalServerError,
  Unigate,
  UnigateError,
} from '../../client/index.ts';
import { until } from './fake-clock.ts';
import { collect } from './socket-server.ts';
import { json, stall, stubClient } from './stub-fetch.ts';
import { startStubServer } from './stub-server.ts';

const id = 'task_1';
const file = '0123456789';
const whole = { 'content-type': 'video/mp4', 'content-length': '10' };
type Responder = Parameters<typeof stubClient>[0][number];

/** Responds with the text, and breaks off if it is not complete. */
function part(text: string, headers: Record<string, string> = whole, status = 200, broken = true): Responder {
  return () => {
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pulls++ === 0 && text) controller.enqueue(new TextEncoder().encode(text));
        else if (broken)
          controller.error(new TypeError('terminated', { cause: new Error('other side closed') }));
        else controller.close();
      },
    });
    return new Response(body, { status, headers });
  };
}

/** Responds with the rest of the file. */
const rest = (from: number, more: Record<string, string> = {}): Responder =>
  part(file.slice(from), { 'content-range': `bytes ${from}-9/10`, ...more }, 206, false);

describe('receiving', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  /** Downloads on the fake clock. Returns the text or the error, the progress and the requests. */
  async function receive(responders: Responder[], options: Parameters<Unigate['videos']['receive']>[1] = {}) {
    const { client, fetch, times } = stubClient(responders);
    const reported: [number, number | undefined][] = [];
    const onBytes = (bytes: number, total: number | undefined) => void reported.push([bytes, total]);
    const outcome = collect(client.videos.receive(id, { ...options, onBytes })).then(
      (chunks) => Buffer.concat(chunks).toString(),
      (error: unknown) => error,
    );
    await vi.runAllTimersAsync();
    expect(vi.getTimerCount()).toBe(0);
    const ranges = fetch.mock.calls.map(([request]) => request.headers.get('range'));
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    return { outcome: await outcome, reported, ranges, waits };
  }

  test('yields the bytes and reports their number', async () => {
    const { outcome, reported, ranges } = await receive([part(file, whole, 200, false)]);
    expect({ outcome, reported, ranges }).toEqual({ outcome: file, reported: [[10, 10]], ranges: [null] });
  });

  test('requests the rest after each lost connection', async () => {
    const second = part('45', { 'content-range': 'bytes 4-9/10' }, 206);
    expect(await receive([part('0123'), second, rest(6)])).toEqual({
      outcome: file,
      reported: [
        [4, 10],
        [6, 10],
        [10, 10],
      ],
      ranges: [null, 'bytes=4-', 'bytes=6-'],
      waits: [500, 500],
    });
  });

  test('completes when a file of unknown length breaks off at its end', async () => {
    const error = { error: { code: 'range_not_satisfiable', message: 'range: no', request_id: 'r' } };
    const beyond = (length: number) =>
      part(JSON.stringify(error), { 'content-range': `bytes */${length}` }, 416, false);
    const open = { 'content-type': 'video/mp4' };
    expect((await receive([part(file, open), beyond(10)])).outcome).toBe(file);
    expect((await receive([part(file, open), beyond(9)])).outcome).toMatchObject({ status: 416 });
  });

  test('skips received bytes when the whole file is sent again', async () => {
    const { outcome, reported } = await receive([part('0123'), part(file, whole, 200, false)]);
    expect(outcome).toBe(file);
    expect(reported).toEqual([
      [4, 10],
      [10, 10],
    ]);
  });

  test('accepts a response as complete only with all bytes', async () => {
    const { outcome, ranges } = await receive([part('0123', whole, 200, false), rest(4)]);
    expect({ outcome, ranges }).toEqual({ outcome: file, ranges: [null, 'bytes=4-'] });
  });

  test('reports no total if it is unknown', async () => {
    const { outcome, reported } = await receive([part(file, {}, 200, false)]);
    expect({ outcome, reported }).toEqual({ outcome: file, reported: [[10, undefined]] });
    const zipped = { 'content-encoding': 'gzip', 'content-length': '3' };
    expect((await receive([part(file, zipped, 200, false)])).reported).toEqual([[10, undefined]]);
  });

  test('resumes after 60 s without data', async () => {
    const { outcome, waits } = await receive([stall('0123', whole), rest(4)]);
    expect(outcome).toBe(file);
    expect(waits).toEqual([60_500]);
  });

  test('backs off between lost connections without a byte, and then gives up', async () => {
    const nothing = Array.from({ length: 5 }, () => part('', { 'content-range': 'bytes 4-9/10' }, 206));
    const { outcome, waits } = await receive([part('0123'), ...nothing]);
    expect(outcome).toMatchObject({
      constructor: ConnectionError,
      message: 'The connection to http://gateway.example failed: other side closed.',
      taskId: id,
    });
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000]);
  });

  test('gives up after the first lost connection with maxRetries 0', async () => {
    const { outcome, ranges } = await receive([part('0123')], { maxRetries: 0 });
    expect(outcome).toBeInstanceOf(ConnectionError);
    expect(ranges).toHaveLength(1);
  });

  test.each([
    ['another tag', rest(4, { etag: '"b"' }), 'The file changed during the download.'],
    [
      'another length',
      part('45', { 'content-range': 'bytes 4-5/6' }, 206, false),
      'The file changed during the download.',
    ],
    ['a later part', rest(6), 'The server returned another part of the file than requested.'],
  ])('rejects %s after a lost connection', async (_, respond, message) => {
    const { outcome } = await receive([part('0123', { ...whole, etag: '"a"' }), respond]);
    expect(outcome).toMatchObject({ constructor: UnigateError, message, taskId: id });
  });

  test('throws an error response with the task id', async () => {
    const { outcome } = await receive([part('0123'), json({ error: { code: 'c', message: 'm' } }, 404)]);
    expect(outcome).toMatchObject({ status: 404, taskId: id });
    const failed = await receive(Array.from({ length: 6 }, () => json({}, 500)));
    expect(failed.outcome).toBeInstanceOf(InternalServerError);
  });

  test('can be aborted while it downloads and while it waits', async () => {
    for (const respond of [stall('0123', whole), part('0123')]) {
      const stop = new AbortController();
      const { client } = stubClient([respond]);
      const outcome = collect(client.videos.receive(id, { signal: stop.signal })).catch(
        (error: unknown) => error,
      );
      await vi.advanceTimersByTimeAsync(100);
      stop.abort('enough');
      expect(await outcome).toMatchObject({ constructor: AbortError, cause: 'enough', taskId: id });
      expect(vi.getTimerCount()).toBe(0);
    }
  });

  test('ends the call when the reader stops', async () => {
    const { client, fetch } = stubClient([stall('0123', whole)]);
    for await (const chunk of client.videos.receive(id)) {
      expect(Buffer.from(chunk).toString()).toBe('0123');
      break;
    }
    expect(vi.getTimerCount()).toBe(0);
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  test('downloads a thumbnail of the video', async () => {
    const { client, fetch } = stubClient([part(file, whole, 200, false), part(file, whole, 200, false)]);
    await collect(client.videos.receive(id, { variant: 'thumbnail' }));
    const picture = await client.videos.download(id, { variant: 'thumbnail', range: 'bytes=0-3' });
    expect(picture.contentType).toBe('video/mp4');
    const urls = fetch.mock.calls.map(([request]) => request.url);
    expect(urls).toEqual(
      Array.from({ length: 2 }, () => `http://gateway.example/v1/videos/${id}/content?variant=thumbnail`),
    );
    expect(fetch.mock.calls[1]?.[0].headers.get('range')).toBe('bytes=0-3');
  });
});

describe('the file', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'unigate-video-'));
    path = join(folder, 'clip.mp4');
    await writeFile(path, 'old');
  });
  afterEach(async () => {
    vi.useRealTimers();
    await rm(folder, { recursive: true });
  });

  const movie = Buffer.alloc(300_000, 'frame');

  /** A gateway whose connections break after a number of bytes. Records the ranges. */
  async function startBreaking(breaks: number[]) {
    const ranges: (string | undefined)[] = [];
    const url = await startStubServer((request, response) => {
      const { range } = request.headers;
      ranges.push(range);
      const from = Number(/\d+/.exec(range ?? '0')?.[0]);
      const length = { 'content-length': movie.length - from };
      if (range)
        response.writeHead(206, {
          'content-range': `bytes ${from}-${movie.length - 1}/${movie.length}`,
          ...length,
        });
      else response.writeHead(200, length);
      const after = breaks.shift();
      if (after === undefined) return void response.end(movie.subarray(from));
      response.write(movie.subarray(from, after), () => setImmediate(() => request.socket.destroySoon()));
    });
    return { ranges, client: new Unigate({ baseUrl: url, apiKey: 'sk-test' }) };
  }

  test('is complete after lost connections, and appears only then', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { ranges, client } = await startBreaking([100_000, 200_000]);
    const seen = new Set<string>();
    let settled = false;
    const onBytes = (bytes: number, total: number | undefined) => {
      expect(total).toBe(movie.length);
      expect(readFileSync(path, 'utf8')).toBe('old');
      seen.add(bytes === total ? 'end' : 'middle');
    };
    const done = client.videos.downloadTo(id, path, { onBytes }).finally(() => {
      settled = true;
    });
    await until(() => settled);
    await done;
    expect(Buffer.compare(await readFile(path), movie)).toBe(0);
    expect(await readdir(folder)).toEqual(['clip.mp4']);
    expect(seen).toEqual(new Set(['middle', 'end']));
    expect(ranges[0]).toBeUndefined();
    expect(ranges.slice(1)).toEqual([
      expect.stringMatching(/^bytes=\d+-$/),
      expect.stringMatching(/^bytes=\d+-$/),
    ]);
  });

  test('stays unchanged when the rest never arrives', async () => {
    const { client } = await startBreaking([100_000]);
    await expect(client.videos.downloadTo(id, path, { maxRetries: 0 })).rejects.toThrow(ConnectionError);
    expect(await readFile(path, 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['clip.mp4']);
  });

  test('is complete when it is written twice at the same time', async () => {
    const { client } = await startBreaking([]);
    await Promise.all([client.videos.downloadTo(id, path), client.videos.downloadTo(id, path)]);
    expect(Buffer.compare(await readFile(path), movie)).toBe(0);
    expect(await readdir(folder)).toEqual(['clip.mp4']);
  });

  test('cannot be written: sends no request', async () => {
    const { ranges, client } = await startBreaking([]);
    await expect(client.videos.downloadTo(id, join(folder, 'no', 'clip.mp4'))).rejects.toThrow('ENOENT');
    expect(ranges).toEqual([]);
  });
});
