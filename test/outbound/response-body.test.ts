import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { afterEach, expect, test, vi } from 'vitest';
import { ResponseBody } from '../../server/outbound/response-body.ts';
import { sendRequest } from '../../server/outbound/send-request.ts';
import { FakeSender } from './fake-sender.ts';

function newBody() {
  const sender = new FakeSender();
  const body = new ResponseBody(sender);
  const closed: unknown[] = [];
  body.onClose((error) => closed.push(error));
  return { sender, body, closed };
}

function recordingSink() {
  const calls: string[] = [];
  return {
    calls,
    write: (chunk: Buffer) => void calls.push(String(chunk)),
    end: () => void calls.push('(end)'),
    fail: (error: unknown) => void calls.push(`(${(error as Error).message})`),
  };
}

const bytes = (text: string) => Buffer.from(text);

test('reads a whole body that arrives before or after the call', async () => {
  const early = newBody();
  early.body.write(bytes('one '));
  early.body.write(bytes('two'));
  early.body.end();
  expect(early.closed).toEqual([]);
  expect(String(await early.body.readAll(7))).toBe('one two');
  expect(early.closed).toEqual([undefined]);

  const late = newBody();
  const whole = late.body.readAll(7);
  late.body.write(bytes('one '));
  await Promise.resolve();
  late.body.write(bytes('two'));
  late.body.end();
  expect(String(await whole)).toBe('one two');
  const empty = newBody();
  empty.body.end();
  expect(await empty.body.readAll(0)).toEqual(Buffer.alloc(0));
});

test('reads nothing of a body over the limit, which can still be piped', async () => {
  const { body, closed } = newBody();
  body.write(bytes('one '));
  body.write(bytes('two'));
  expect(await body.readAll(6)).toBeUndefined();
  const seen = recordingSink();
  body.pipe(seen);
  body.write(bytes('!'));
  body.end();
  expect(seen.calls).toEqual(['one ', 'two', '!', '(end)']);
  expect(closed).toEqual([undefined]);
});

test('reads a whole body beyond the high-water mark', async () => {
  const { body, sender } = newBody();
  const half = Buffer.alloc(100_000, 'a');
  body.write(half);
  expect(sender.paused).toBe(true);
  const whole = body.readAll(200_000);
  expect(sender.paused).toBe(false);
  body.write(half);
  expect(sender.paused).toBe(false);
  body.end();
  expect((await whole)?.length).toBe(200_000);
});

test('pauses the sender for a paused sink and ends it after all chunks', () => {
  const { body, sender, closed } = newBody();
  const seen = recordingSink();
  body.pipe(seen);
  body.write(bytes('a'));
  body.pause();
  body.write(Buffer.alloc(65_535, 'b'));
  expect(sender.paused).toBe(false);
  body.write(bytes('c'));
  expect(sender.paused).toBe(true);
  expect(seen.calls).toEqual(['a']);
  body.resume();
  expect(sender.paused).toBe(false);
  expect(seen.calls.at(-1)).toBe('c');
  body.pause();
  body.write(bytes('d'));
  body.end();
  expect(seen.calls.at(-1)).toBe('c');
  expect(closed).toEqual([]);
  body.resume();
  expect(seen.calls.slice(-2)).toEqual(['d', '(end)']);
  expect(closed).toEqual([undefined]);
});

test('writes no more chunks to a sink that pauses', () => {
  const { body } = newBody();
  for (const text of ['a', 'b', 'c']) body.write(bytes(text));
  body.end();
  const seen = recordingSink();
  body.pipe({
    ...seen,
    write(chunk) {
      seen.write(chunk);
      body.pause();
    },
  });
  expect(seen.calls).toEqual(['a']);
  body.resume();
  body.resume();
  expect(seen.calls).toEqual(['a', 'b', 'c']);
  body.resume();
  expect(seen.calls).toEqual(['a', 'b', 'c', '(end)']);
});

test('ends the sink of an empty body and fails the sink of an aborted one', () => {
  const empty = newBody();
  empty.body.end();
  const seen = recordingSink();
  empty.body.pipe(seen);
  empty.body.resume();
  expect(seen.calls).toEqual(['(end)']);
  const aborted = newBody();
  aborted.body.destroy();
  aborted.body.pipe(seen);
  expect(seen.calls.slice(1)).toEqual(['(the body was aborted)']);
});

test('reports a failure once to every kind of reader', async () => {
  const broken = new Error('broken');
  const { body, closed } = newBody();
  const seen = recordingSink();
  body.pipe(seen);
  body.write(bytes('a'));
  body.fail(broken);
  body.fail(broken);
  body.end();
  expect(seen.calls).toEqual(['a', '(broken)']);
  expect(closed).toEqual([broken]);

  const pending = newBody();
  const whole = pending.body.readAll(10);
  pending.body.fail(broken);
  await expect(whole).rejects.toBe(broken);

  // A failure before the first read is not lost.
  const early = newBody();
  early.body.fail(broken);
  await expect(early.body[Symbol.asyncIterator]().next()).rejects.toBe(broken);
  const flowing = recordingSink();
  early.body.pipe(flowing);
  expect(flowing.calls).toEqual(['(broken)']);
  const late: unknown[] = [];
  early.body.onClose((error) => late.push(error));
  expect(late).toEqual([broken]);
});

test('aborts the sender and writes no more when the reader stops', async () => {
  const { body, sender, closed } = newBody();
  const seen = recordingSink();
  body.pipe(seen);
  body.destroy();
  body.destroy();
  body.write(bytes('a'));
  body.end();
  expect(seen.calls).toEqual([]);
  expect(sender.aborted).toBeInstanceOf(Error);
  expect(closed).toEqual([undefined]);

  const iterated = newBody();
  iterated.body.write(bytes('a'));
  for await (const _ of iterated.body) break;
  expect(iterated.sender.aborted).toBeInstanceOf(Error);

  const open = newBody();
  open.body.write(bytes('a'));
  for await (const _ of open.body.chunks()) break;
  expect(open.sender.aborted).toBeUndefined();
});

test('discards a short rest and aborts a long one', async () => {
  const near = newBody();
  near.body.write(bytes('abc'));
  near.body.end();
  await near.body.dump(3);
  expect([near.sender.aborted, near.closed]).toEqual([undefined, [undefined]]);
  const far = newBody();
  far.body.write(bytes('abcd'));
  await far.body.dump(3);
  expect(far.sender.aborted).toBeInstanceOf(Error);
  const broken = newBody();
  broken.body.fail(new Error('broken'));
  await broken.body.dump();
});

const ends: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function request(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const abort = new AbortController();
  ends.push(
    () => pool.destroy(),
    () => void server.close(),
  );
  return { abort, response: sendRequest(pool, { path: '/', method: 'GET' }, abort.signal) };
}

test('resolves with the headers, before the body', async () => {
  const { response } = await request((_request, reply) => {
    reply.writeHead(201, { 'x-test': 'yes' }).write('one ');
    setImmediate(() => reply.end('two'));
  });
  const { status, headers, body } = await response;
  expect([status, headers['x-test']]).toEqual([201, 'yes']);
  expect(String(await body.readAll(100))).toBe('one two');
});

test('closes the connection when the client disconnects before the headers or during the body', async () => {
  const closed: string[] = [];
  const watched = (name: string): RequestListener => {
    return (request, response) => {
      request.socket.on('close', () => closed.push(name));
      if (name === 'body') response.write('first');
    };
  };
  const head = await request(watched('head'));
  head.abort.abort(new Error('aborted'));
  await expect(head.response).rejects.toThrow('aborted');
  const { abort, response } = await request(watched('body'));
  const { body } = await response;
  const chunks = body[Symbol.asyncIterator]();
  expect(String((await chunks.next()).value)).toBe('first');
  abort.abort(new Error('aborted'));
  await expect(chunks.next()).rejects.toThrow('aborted');
  await vi.waitFor(() => expect(closed).toContain('body'));
});

test('fails the request, or the body, when the connection breaks', async () => {
  const before = await request((request) => void request.socket.destroy());
  await expect(before.response).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
  const { response } = await request((request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('first');
    setImmediate(() => request.socket.destroy());
  });
  await expect((await response).body.readAll(100)).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
  const aborted = AbortSignal.abort(new Error('aborted before'));
  await expect(
    sendRequest(new Pool('http://127.0.0.1:9'), { path: '/', method: 'GET' }, aborted),
  ).rejects.toThrow('aborted before');
});
