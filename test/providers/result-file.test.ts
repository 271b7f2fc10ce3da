import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Channel } from '../../server/channels/channel.ts';
import { openResultFile, type RequestedPart } from '../../server/providers/result-file.ts';
import { createLogger } from '../../server/telemetry/logger.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';

let upstream: RecordingUpstream;
let channel: Channel;
let answers: { status: number; headers?: Record<string, string>; body?: string }[];

beforeAll(async () => {
  upstream = await startUpstream((_, response) => {
    const { status, headers = {}, body = '' } = answers.shift() ?? { status: 500 };
    response.writeHead(status, headers).end(body);
  });
  channel = new Channel(channelTo(upstream.url), Date.now);
});
afterAll(async () => {
  await channel.close();
  await upstream.close();
});
beforeEach(() => {
  upstream.seen.length = 0;
});

const open = async (wanted: Partial<RequestedPart> = {}) => {
  const request = { channel, user: 1, logger: createLogger('silent'), signal: AbortSignal.timeout(60_000) };
  const { body, ...file } = await openResultFile(
    `${upstream.url}/a.mp4`,
    { field: 'video_id', range: undefined, ...wanted },
    request,
  );
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return { ...file, body: Buffer.concat(chunks).toString() };
};
const asked = () => upstream.seen.map(({ headers }) => headers.range);
const mp4 = { 'content-type': 'Video/MP4; codecs=h264' };

test('a file is returned with its type and length', async () => {
  answers = [{ status: 200, headers: { ...mp4, 'content-length': '5' }, body: 'movie' }];
  expect(await open()).toEqual({ body: 'movie', mediaType: 'video/mp4', length: '5', part: undefined });
  expect(asked()).toEqual([undefined]);
});

describe('a part', () => {
  test.each([
    ['bytes=2-', 'bytes 2-4/5', '5'],
    ['bytes=2-3', 'bytes 2-3/*', undefined],
    ['bytes=-3', 'bytes 2-4/5', '5'],
  ])('for %s may be %s', async (range, reported, of) => {
    answers = [{ status: 206, headers: { ...mp4, 'content-range': reported }, body: 'vie' }];
    expect(await open({ range })).toMatchObject({ body: 'vie', part: { range: reported, of } });
    expect(asked()).toEqual([range]);
  });

  test.each(['2', '4', 'x'])('with a declared length of %s is not one of three bytes', async (length) => {
    const headers = { ...mp4, 'content-range': 'bytes 2-4/5', 'content-length': length };
    answers = [{ status: 206, headers, body: 'vie' }];
    await expect(open({ range: 'bytes=2-' })).rejects.toMatchObject({ status: 502 });
  });

  test('shorter than requested is returned', async () => {
    answers = [{ status: 206, headers: { ...mp4, 'content-range': 'bytes 2-3/5' }, body: 'vi' }];
    expect(await open({ range: 'bytes=2-4' })).toMatchObject({ body: 'vi' });
  });

  test('may be the whole file', async () => {
    answers = [{ status: 200, headers: mp4, body: 'movie' }];
    expect(await open({ range: 'bytes=2-' })).toMatchObject({ body: 'movie', part: undefined });
  });

  test.each([
    ['bytes=2-', 'bytes 1-4/5'],
    ['bytes=2-', 'bytes 12-14/15'],
    ['bytes=2-', 'bytes 2-4'],
    ['bytes=2-', 'x bytes 2-4/5'],
    ['bytes=2-', 'bytes 2-4/5 x'],
    ['bytes=2-', ''],
    ['bytes=2-', 'bytes 2-1/5'],
    ['bytes=2-', 'bytes 2-5/5'],
    ['bytes=2-', 'bytes 2-9007199254740993/*'],
    ['bytes=2-3', 'bytes 2-4/5'],
    ['bytes=-3', 'bytes 0-4/5'],
    ['bytes=-3', 'bytes 1-3/5'],
    ['bytes=-3', 'bytes 1-4/*'],
    ['lines=2-', 'bytes 2-4/5'],
    [undefined, 'bytes 0-4/5'],
  ])('for %s must not be %j', async (range, reported) => {
    answers = [{ status: 206, headers: { ...mp4, 'content-range': reported }, body: 'ovie' }];
    await expect(open({ range })).rejects.toMatchObject({ status: 502, code: 'bad_response_status_code' });
  });

  test.each([
    ['bytes */5', 'bytes */5'],
    ['bytes */1234567890123456', undefined],
    ['x bytes */5', undefined],
    ['bytes */5 x', undefined],
    [undefined, undefined],
  ])('outside of the file is rejected with the length in %j', async (reported, contentRange) => {
    answers = [{ status: 416, headers: reported === undefined ? {} : { 'content-range': reported } }];
    await expect(open({ range: 'bytes=9-' })).rejects.toMatchObject({
      status: 416,
      code: 'range_not_satisfiable',
      message: 'range: the file has no such part.',
      contentRange,
    });
  });

  test('outside of the file may fall back to the whole file', async () => {
    answers = [{ status: 416 }, { status: 200, headers: { 'content-type': 'text/vtt' }, body: 'WEBVTT' }];
    expect(await open({ range: 'bytes=9-', fallBackToWhole: true, text: true })).toMatchObject({
      body: 'WEBVTT',
    });
    expect(asked()).toEqual(['bytes=9-', undefined]);
    answers = [{ status: 416 }];
    await expect(open({ fallBackToWhole: true })).rejects.toMatchObject({ status: 502 });
  });
});

describe('a missing file', () => {
  test.each([403, 404, 410])('is reported for status %i', async (status) => {
    answers = [{ status, headers: mp4 }];
    await expect(open()).rejects.toMatchObject({
      status: 404,
      code: 'resource_not_found',
      message: 'video_id: the file is not available any more.',
    });
  });

  test.each([
    [200, { 'content-type': 'text/html' }, false],
    [200, { 'content-type': 'text/html' }, true],
    [200, { 'content-type': 'application/xml' }, true],
    [200, { 'content-type': 'application/json' }, false],
    [200, { ...mp4, 'content-encoding': 'gzip' }, false],
    [201, mp4, false],
    [500, mp4, false],
  ])('is reported for %i with %j', async (status, headers, text) => {
    answers = [{ status, headers, body: 'x' }];
    await expect(open({ text })).rejects.toMatchObject({
      status: 502,
      code: 'bad_response_status_code',
      message: 'The provider did not serve the file.',
    });
  });

  test.each(['application/json', 'text/plain; charset=utf-8', 'text/vtt'])(
    'is a text unless allowed: %s',
    async (type) => {
      answers = [
        { status: 200, headers: { 'content-type': type, 'content-encoding': 'identity' }, body: 'x' },
      ];
      expect(await open({ text: true })).toMatchObject({ body: 'x', mediaType: type.split(';')[0] });
    },
  );
});
