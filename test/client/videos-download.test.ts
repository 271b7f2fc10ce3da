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
type Turn = Parameters<typeof stubClient>[0][number];

/** An answer that gives the text, and breaks off after it if that is not the end. */
function part(text: string, headers: Record<string, string> = whole, status = 200, broken = true): Turn {
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

/** The rest of the file from a place on. */
const rest = (from: number, more: Record<string, string> = {}): Turn =>
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

  /** Receives on the fake clock: the text, or the error, and what was told and asked on the way. */
  async function receive(turns: Turn[], options: Parameters<Unigate['videos']['receive']>[1] = {}) {
    const { client, fetch, times } = stubClient(turns);
    const told: [number, number | undefined][] = [];
    const onBytes = (bytes: number, total: number | undefined) => void told.push([bytes, total]);
    const outcome = collect(client.videos.receive(id, { ...options, onBytes })).then(
      (chunks) => Buffer.concat(chunks).toString(),
      (error: unknown) => error,
    );
    await vi.runAllTimersAsync();
    expect(vi.getTimerCount()).toBe(0);
    const ranges = fetch.mock.calls.map(([request]) => request.headers.get('range'));
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    return { outcome: await outcome, told, ranges, waits };
  }

  test('gives the bytes and tells how many have come', async () => {
    const { outcome, told, ranges } = await receive([part(file, whole, 200, false)]);
    expect({ outcome, told, ranges }).toEqual({ outcome: file, told: [[10, 10]], ranges: [null] });
  });

  test('asks for the rest after each break', async () => {
    const second = part('45', { 'content-range': 'bytes 4-9/10' }, 206);
    expect(await receive([part('0123'), second, rest(6)])).toEqual({
      outcome: file,
      told: [
        [4, 10],
        [6, 10],
        [10, 10],
      ],
      ranges: [null, 'bytes=4-', 'bytes=6-'],
      waits: [500, 500],
    });
  });

  test('has all when a file of unknown length broke off at its end', async () => {
    const error = { error: { code: 'range_not_satisfiable', message: 'range: no', request_id: 'r' } };
    const beyond = (length: number) =>
      part(JSON.stringify(error), { 'content-range': `bytes */${length}` }, 416, false);
    const open = { 'content-type': 'video/mp4' };
    expect((await receive([part(file, open), beyond(10)])).outcome).toBe(file);
    expect((await receive([part(file, open), beyond(9)])).outcome).toMatchObject({ status: 416 });
  });

  test('passes over what it has when the whole file comes again', async () => {
    const { outcome, told } = await receive([part('0123'), part(file, whole, 200, false)]);
    expect(outcome).toBe(file);
    expect(told).toEqual([
      [4, 10],
      [10, 10],
    ]);
  });

  test('takes an answer for whole only when all bytes are there', async () => {
    const { outcome, ranges } = await receive([part('0123', whole, 200, false), rest(4)]);
    expect({ outcome, ranges }).toEqual({ outcome: file, ranges: [null, 'bytes=4-'] });
  });

  test('knows no total where none is told', async () => {
    const { outcome, told } = await receive([part(file, {}, 200, false)]);
    expect({ outcome, told }).toEqual({ outcome: file, told: [[10, undefined]] });
    const zipped = { 'content-encoding': 'gzip', 'content-length': '3' };
    expect((await receive([part(file, zipped, 200, false)])).told).toEqual([[10, undefined]]);
  });

  test('goes on after a long silence', async () => {
    const { outcome, waits } = await receive([stall('0123', whole), rest(4)]);
    expect(outcome).toBe(file);
    expect(waits).toEqual([60_500]);
  });

  test('waits ever longer between breaks without a byte, and then gives up', async () => {
    const nothing = Array.from({ length: 5 }, () => part('', { 'content-range': 'bytes 4-9/10' }, 206));
    const { outcome, waits } = await receive([part('0123'), ...nothing]);
    expect(outcome).toMatchObject({
      constructor: ConnectionError,
      message: 'The connection to http://gateway.example failed: other side closed.',
      taskId: id,
    });
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000]);
  });

  test('gives up at the first break with maxRetries 0', async () => {
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
  ])('refuses %s after a break', async (_, turn, message) => {
    const { outcome } = await receive([part('0123', { ...whole, etag: '"a"' }), turn]);
    expect(outcome).toMatchObject({ constructor: UnigateError, message, taskId: id });
  });

  test('throws a refusal with the task id', async () => {
    const { outcome } = await receive([part('0123'), json({ error: { code: 'c', message: 'm' } }, 404)]);
    expect(outcome).toMatchObject({ status: 404, taskId: id });
    const gone = await receive(Array.from({ length: 6 }, () => json({}, 500)));
    expect(gone.outcome).toBeInstanceOf(InternalServerError);
  });

  test('can be aborted in the middle and in a pause', async () => {
    for (const turn of [stall('0123', whole), part('0123')]) {
      const stop = new AbortController();
      const { client } = stubClient([turn]);
      const outcome = collect(client.videos.receive(id, { signal: stop.signal })).catch(
        (error: unknown) => error,
      );
      await vi.advanceTimersByTimeAsync(100);
      stop.abort('enough');
      expect(await outcome).toMatchObject({ constructor: AbortError, cause: 'enough', taskId: id });
      expect(vi.getTimerCount()).toBe(0);
    }
  });

  test('ends the call when the reader has had enough', async () => {
    const { client, fetch } = stubClient([stall('0123', whole)]);
    for await (const chunk of client.videos.receive(id)) {
      expect(Buffer.from(chunk).toString()).toBe('0123');
      break;
    }
    expect(vi.getTimerCount()).toBe(0);
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  test('takes a picture of the video', async () => {
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

  /** A gateway whose connections break after so many bytes; it remembers the ranges. */
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

  test('is whole after breaks, and only then there', async () => {
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

  test('stays as it was when the rest never comes', async () => {
    const { client } = await startBreaking([100_000]);
    await expect(client.videos.downloadTo(id, path, { maxRetries: 0 })).rejects.toThrow(ConnectionError);
    expect(await readFile(path, 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['clip.mp4']);
  });

  test('is whole also when it is written twice at once', async () => {
    const { client } = await startBreaking([]);
    await Promise.all([client.videos.downloadTo(id, path), client.videos.downloadTo(id, path)]);
    expect(Buffer.compare(await readFile(path), movie)).toBe(0);
    expect(await readdir(folder)).toEqual(['clip.mp4']);
  });

  test('cannot be written: nothing is asked for', async () => {
    const { ranges, client } = await startBreaking([]);
    await expect(client.videos.downloadTo(id, join(folder, 'no', 'clip.mp4'))).rejects.toThrow('ENOENT');
    expect(ranges).toEqual([]);
  });
});
