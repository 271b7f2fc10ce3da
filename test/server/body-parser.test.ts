import { request as open } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { operations } from '../../generated/operations.ts';
import { megabyte } from '../../server/http/body-limits.ts';
import { BodyParser } from '../../server/http/body-parser.ts';
import type { BodyJob } from '../../server/http/parse-body.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { channelTo, type RecordingUpstream, startUpstream } from '../support/upstream.ts';

const never = new AbortController().signal;
const limits = { bytes: 64 * megabyte, textBytes: 4 * megabyte };
const json = (body: string | Buffer): BodyJob & { kind: 'json' } => ({
  kind: 'json',
  chunks: [Buffer.from(body)],
  limits,
});
/** Returns a thread script that runs `code` in place of the parser. */
const script = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);
const importPort = `import { parentPort } from 'node:worker_threads';`;

describe('the parser', () => {
  const opened: BodyParser[] = [];
  const parserOf = (...options: ConstructorParameters<typeof BodyParser>) => {
    const parser = new BodyParser(...options);
    opened.push(parser);
    return parser;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((parser) => parser.close()));
  });

  test('parses like the main thread: the last of equal names wins, and __proto__ is an ordinary name', async () => {
    const parser = parserOf();
    const text = '{"a":1,"a":2,"__proto__":{"polluted":true},"b":["한😀",null,-0.5,{"c":""}]}';
    const value = await parser.parse(json(text), 1, never);
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
    expect(value).toEqual(JSON.parse(text));
    expect(Object.keys(value as object)).toContain('__proto__');
    expect({}).not.toHaveProperty('polluted');
  });

  test.each([
    ['invalid UTF-8', Buffer.from([0x22, 0xc3, 0x28, 0x22]), 400, 'body: is not valid UTF-8.'],
    ['no JSON', '{"a":', 400, 'body: is not valid JSON (Unexpected end of JSON input).'],
    [
      'too many values',
      `[${'0,'.repeat(50_000)}0]`,
      400,
      'body: has more than 50000 values and names of fields.',
    ],
    [
      'deep nesting',
      `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
      400,
      'body: is nested deeper than 100 levels.',
    ],
    ['a control character', '{"a":["\\u0000"]}', 400, expect.stringMatching(/^a\.0: .*U\+0000/)],
    [
      'too much text',
      `"${'x '.repeat(2 * megabyte)}"`,
      413,
      expect.stringContaining('4 MB beside inline media'),
    ],
  ])('refuses %s', async (_, body, status, message) => {
    await expect(parserOf().parse(json(body), 1, never)).rejects.toMatchObject({ status, message });
  });

  test('alternates between users', async () => {
    const parser = parserOf({ threads: 1 });
    const order: string[] = [];
    const parse = (owner: number, name: string) =>
      parser.parse(json('1'), owner, never).then(() => order.push(name));
    await Promise.all([
      ...['a1', 'a2', 'a3', 'a4'].map((name) => parse(1, name)),
      ...['b1', 'b2'].map((name) => parse(2, name)),
    ]);
    expect(order).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4']);
  });

  test('429 for a user whose bodies fill half of the queue, while other users are accepted', async () => {
    const parser = parserOf({ threads: 1, maxWaiting: 4 });
    const parse = (owner: number) => parser.parse(json('1'), owner, never);
    const parsed = [parse(1), parse(1), parse(1)];
    await expect(parse(1)).rejects.toMatchObject({ status: 429, retryAfter: 1 });
    parsed.push(parse(2));
    await expect(Promise.all(parsed)).resolves.toHaveLength(4);
  });

  test('a body whose client disconnects in the queue is not parsed', async () => {
    const parser = parserOf({ threads: 1 });
    const first = parser.parse(json('1'), 1, never);
    const client = new AbortController();
    const second = parser.parse(json('2'), 1, client.signal);
    const third = parser.parse(json('3'), 1, never);
    client.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    expect([await first, await third]).toEqual([1, 3]);
  });

  test.each([
    ['ends', `${importPort} parentPort.on('message', () => process.exit(1));`],
    ['throws', `${importPort} parentPort.on('message', () => { throw new Error('broken'); });`],
  ])('500 for a body whose thread %s, and the next body gets a new thread', async (_, code) => {
    const parser = parserOf({ threads: 1, script: script(code) });
    const bodies = [parser.parse(json('1'), 1, never), parser.parse(json('2'), 1, never)];
    const outcomes = await Promise.allSettled(bodies);
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { status: 500, code: 'internal_error' } });
  });

  test('rejects queued bodies when it is closed', async () => {
    const parser = parserOf({
      threads: 1,
      script: script(`${importPort} parentPort.on('message', () => {});`),
    });
    const bodies = [parser.parse(json('1'), 1, never), parser.parse(json('2'), 1, never)];
    const outcomes = Promise.allSettled(bodies);
    await parser.close();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(parser.parse(json('3'), 1, never)).rejects.toThrow('closed');
  });

  test('does not modify bytes that share their memory', async () => {
    const shared = Buffer.from('[1]');
    const value = await parserOf().parse({ kind: 'json', chunks: [shared], limits }, 1, never);
    expect([value, shared.toString()]).toEqual([[1], '[1]']);
  });
});

describe('on the gateway', () => {
  let upstream: RecordingUpstream;
  let target: TestGateway;
  const parse = vi.spyOn(BodyParser.prototype, 'parse');
  beforeAll(async () => {
    upstream = await startUpstream((_request, response) => {
      response.end('{"request_id":"r","output":{"task_id":"t","task_status":"PENDING"}}');
    });
    target = await startTestGateway({ sandbox: false, channels: [channelTo(upstream.url)] });
  });
  afterEach(() => parse.mockClear());
  afterAll(async () => {
    parse.mockRestore();
    await target.close();
    await upstream.close();
  });

  const imageUrl = (length: number) => `data:image/png;base64,${'QUJDRA+/'.repeat(length / 8)}`;
  const gamma = (url: string, more: object = {}) =>
    JSON.stringify({ model: 'gamma3.0-video', input: { media: [{ type: 'first_frame', url }] }, ...more });
  const send = async (
    body: string | FormData | ReadableStream,
    headers: Record<string, string> = {},
    path: string = operations.createNativeVideo.path,
  ) => {
    const request = {
      method: 'POST',
      headers: { authorization: `Bearer ${target.key}`, ...headers },
      body,
      duplex: 'half',
    } as const;
    const response = await fetch(target.url + path, request);
    return { status: response.status, text: await response.text() };
  };
  const asJson = { 'content-type': 'application/json' };
  const streamOf = (text: string) => new Blob([text]).stream();

  test('a body of up to 1 MB is parsed on the main thread, a larger one in a thread', async () => {
    expect((await send(gamma(imageUrl(megabyte / 2)), asJson)).status).toBe(200);
    expect((await send(streamOf(gamma(imageUrl(megabyte / 2))), asJson)).status).toBe(200);
    expect(parse).not.toHaveBeenCalled();
    expect((await send(gamma(imageUrl(2 * megabyte)), asJson)).status).toBe(200);
    expect((await send(streamOf(gamma(imageUrl(2 * megabyte))), asJson)).status).toBe(200);
    expect(parse).toHaveBeenCalledTimes(2);
    const [small, , large] = upstream.changes().map(({ body }) => JSON.stringify(body));
    expect([small, large]).toEqual([gamma(imageUrl(megabyte / 2)), gamma(imageUrl(2 * megabyte))]);
  });

  test('a form of up to 1 MB is parsed on the main thread, a larger one in a thread', async () => {
    const form = (length: number) => {
      const data = new FormData();
      data.append('model', 'gamma3.0-video');
      data.append('prompt', 'A boat.');
      data.append('image', imageUrl(length));
      return data;
    };
    const { path } = operations.createVideo;
    expect((await send(form(megabyte / 2), {}, path)).status).toBe(200);
    expect(parse).not.toHaveBeenCalled();
    expect((await send(form(2 * megabyte), {}, path)).status).toBe(200);
    expect(parse).toHaveBeenCalledTimes(1);
  });

  test.each([
    [
      'a field named __proto__',
      gamma(imageUrl(2 * megabyte)).replace('{', '{"__proto__":{"polluted":1},'),
      200,
    ],
    [
      'deep nesting',
      gamma(imageUrl(2 * megabyte)).replace('{', `{"x":${'['.repeat(200)}${']'.repeat(200)},`),
      400,
    ],
    ['a broken end', gamma(imageUrl(2 * megabyte)).slice(0, -1), 400],
  ])('a large body with %s gets the expected status %#', async (_, body, status) => {
    expect((await send(body, asJson)).status).toBe(status);
    expect({}).not.toHaveProperty('polluted');
  });

  test('a client that disconnects in the middle of a large body does not block the parser', async () => {
    await new Promise<void>((resolve) => {
      const headers = {
        authorization: `Bearer ${target.key}`,
        'content-length': String(30 * megabyte),
        ...asJson,
      };
      const sending = open(target.url + operations.createNativeVideo.path, {
        method: 'POST',
        headers,
        agent: false,
      });
      sending.on('error', () => resolve());
      sending.write(' '.repeat(4 * megabyte), () => sending.destroy(new Error('gone')));
    });
    expect((await send(gamma(imageUrl(2 * megabyte)), asJson)).status).toBe(200);
    expect(parse).toHaveBeenCalledTimes(1);
  });

  test('a body on an operation without one is discarded up to 1 MB, and refused beyond', async () => {
    const get = (size: number) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { authorization: `Bearer ${target.key}`, 'content-length': String(size) };
        const sending = open(
          `${target.url}/v1/models`,
          { method: 'GET', headers, agent: false },
          (response) => {
            response.resume();
            resolve(response.statusCode);
          },
        );
        sending.on('error', reject);
        sending.end(Buffer.alloc(size, ' '));
      });
    expect(await get(megabyte)).toBe(200);
    expect(await get(megabyte + 1)).toBe(413);
  });
});
