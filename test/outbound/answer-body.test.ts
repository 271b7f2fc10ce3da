import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { afterEach, expect, test, vi } from 'vitest';
import { AnswerBody } from '../../server/outbound/answer-body.ts';
import { ask } from '../../server/outbound/ask.ts';
import { FakeSender } from './fake-sender.ts';

function newBody() {
  const sender = new FakeSender();
  const body = new AnswerBody(sender);
  const closed: unknown[] = [];
  body.onClose((error) => closed.push(error));
  return { sender, body, closed };
}

function sink() {
  const told: string[] = [];
  return {
    told,
    take: (piece: Buffer) => void told.push(String(piece)),
    end: () => void told.push('(end)'),
    fail: (error: unknown) => void told.push(`(${(error as Error).message})`),
  };
}

const bytes = (text: string) => Buffer.from(text);

test('a body is given as a whole, whenever it comes', async () => {
  const early = newBody();
  early.body.take(bytes('one '));
  early.body.take(bytes('two'));
  early.body.end();
  expect(early.closed).toEqual([]);
  expect(String(await early.body.whole(7))).toBe('one two');
  expect(early.closed).toEqual([undefined]);

  const late = newBody();
  const whole = late.body.whole(7);
  late.body.take(bytes('one '));
  await Promise.resolve();
  late.body.take(bytes('two'));
  late.body.end();
  expect(String(await whole)).toBe('one two');
  const empty = newBody();
  empty.body.end();
  expect(await empty.body.whole(0)).toEqual(Buffer.alloc(0));
});

test('of one that is too long nothing is taken, and all of it flows', async () => {
  const { body, closed } = newBody();
  body.take(bytes('one '));
  body.take(bytes('two'));
  expect(await body.whole(6)).toBeUndefined();
  const seen = sink();
  body.flow(seen);
  body.take(bytes('!'));
  body.end();
  expect(seen.told).toEqual(['one ', 'two', '!', '(end)']);
  expect(closed).toEqual([undefined]);
});

test('to be given as a whole it may be longer than what waits for a reader', async () => {
  const { body, sender } = newBody();
  const half = Buffer.alloc(100_000, 'a');
  body.take(half);
  expect(sender.paused).toBe(true);
  const whole = body.whole(200_000);
  expect(sender.paused).toBe(false);
  body.take(half);
  expect(sender.paused).toBe(false);
  body.end();
  expect((await whole)?.length).toBe(200_000);
});

test('the sender waits for a reader that pauses, and its end is told when all before it is taken', () => {
  const { body, sender, closed } = newBody();
  const seen = sink();
  body.flow(seen);
  body.take(bytes('a'));
  body.pause();
  body.take(Buffer.alloc(65_535, 'b'));
  expect(sender.paused).toBe(false);
  body.take(bytes('c'));
  expect(sender.paused).toBe(true);
  expect(seen.told).toEqual(['a']);
  body.resume();
  expect(sender.paused).toBe(false);
  expect(seen.told.at(-1)).toBe('c');
  body.pause();
  body.take(bytes('d'));
  body.end();
  expect(seen.told.at(-1)).toBe('c');
  expect(closed).toEqual([]);
  body.resume();
  expect(seen.told.slice(-2)).toEqual(['d', '(end)']);
  expect(closed).toEqual([undefined]);
});

test('a reader that pauses in the midst of what had come is given no more', () => {
  const { body } = newBody();
  for (const text of ['a', 'b', 'c']) body.take(bytes(text));
  body.end();
  const seen = sink();
  body.flow({
    ...seen,
    take(piece) {
      seen.take(piece);
      body.pause();
    },
  });
  expect(seen.told).toEqual(['a']);
  body.resume();
  body.resume();
  expect(seen.told).toEqual(['a', 'b', 'c']);
  body.resume();
  expect(seen.told).toEqual(['a', 'b', 'c', '(end)']);
});

test('an empty one flows to its end, and one that was left tells so', () => {
  const empty = newBody();
  empty.body.end();
  const seen = sink();
  empty.body.flow(seen);
  empty.body.resume();
  expect(seen.told).toEqual(['(end)']);
  const left = newBody();
  left.body.destroy();
  left.body.flow(seen);
  expect(seen.told.slice(1)).toEqual(['(the body was left)']);
});

test('a body that breaks tells so once, however it is read', async () => {
  const broken = new Error('broken');
  const { body, closed } = newBody();
  const seen = sink();
  body.flow(seen);
  body.take(bytes('a'));
  body.fail(broken);
  body.fail(broken);
  body.end();
  expect(seen.told).toEqual(['a', '(broken)']);
  expect(closed).toEqual([broken]);

  const asked = newBody();
  const whole = asked.body.whole(10);
  asked.body.fail(broken);
  await expect(whole).rejects.toBe(broken);

  // What nobody has listened to yet is not lost.
  const early = newBody();
  early.body.fail(broken);
  await expect(early.body[Symbol.asyncIterator]().next()).rejects.toBe(broken);
  const flowing = sink();
  early.body.flow(flowing);
  expect(flowing.told).toEqual(['(broken)']);
  const late: unknown[] = [];
  early.body.onClose((error) => late.push(error));
  expect(late).toEqual([broken]);
});

test('who leaves breaks it off, and hears no more', async () => {
  const { body, sender, closed } = newBody();
  const seen = sink();
  body.flow(seen);
  body.destroy();
  body.destroy();
  body.take(bytes('a'));
  body.end();
  expect(seen.told).toEqual([]);
  expect(sender.aborted).toBeInstanceOf(Error);
  expect(closed).toEqual([undefined]);

  const iterated = newBody();
  iterated.body.take(bytes('a'));
  for await (const _ of iterated.body) break;
  expect(iterated.sender.aborted).toBeInstanceOf(Error);

  const kept = newBody();
  kept.body.take(bytes('a'));
  for await (const _ of kept.body.pieces()) break;
  expect(kept.sender.aborted).toBeUndefined();
});

test('what nobody wants is read to a near end, and broken off before a far one', async () => {
  const near = newBody();
  near.body.take(bytes('abc'));
  near.body.end();
  await near.body.dump(3);
  expect([near.sender.aborted, near.closed]).toEqual([undefined, [undefined]]);
  const far = newBody();
  far.body.take(bytes('abcd'));
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

async function asking(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const leave = new AbortController();
  ends.push(
    () => pool.destroy(),
    () => void server.close(),
  );
  return { leave, answer: ask(pool, { path: '/', method: 'GET' }, leave.signal) };
}

test('an answer comes with its head, and its body after it', async () => {
  const { answer } = await asking((_request, response) => {
    response.writeHead(201, { 'x-said': 'yes' }).write('one ');
    setImmediate(() => response.end('two'));
  });
  const { status, headers, body } = await answer;
  expect([status, headers['x-said']]).toEqual([201, 'yes']);
  expect(String(await body.whole(100))).toBe('one two');
});

test('who leaves before the head, or before the end, leaves the provider too', async () => {
  const gone: string[] = [];
  const watched = (name: string): RequestListener => {
    return (request, response) => {
      request.socket.on('close', () => gone.push(name));
      if (name === 'body') response.write('first');
    };
  };
  const head = await asking(watched('head'));
  head.leave.abort(new Error('left'));
  await expect(head.answer).rejects.toThrow('left');
  const { leave, answer } = await asking(watched('body'));
  const { body } = await answer;
  const pieces = body[Symbol.asyncIterator]();
  expect(String((await pieces.next()).value)).toBe('first');
  leave.abort(new Error('left'));
  await expect(pieces.next()).rejects.toThrow('left');
  await vi.waitFor(() => expect(gone).toContain('body'));
});

test('a connection that breaks fails the request, or the body that has begun', async () => {
  const before = await asking((request) => void request.socket.destroy());
  await expect(before.answer).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
  const { answer } = await asking((request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('first');
    setImmediate(() => request.socket.destroy());
  });
  await expect((await answer).body.whole(100)).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
  const aborted = AbortSignal.abort(new Error('left before'));
  await expect(ask(new Pool('http://127.0.0.1:9'), { path: '/', method: 'GET' }, aborted)).rejects.toThrow(
    'left before',
  );
});
