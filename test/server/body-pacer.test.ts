import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { BodyPacer, type PacedRequest } from '../../server/http/body-pacer.ts';

class FakeRequest implements PacedRequest {
  destroyed = false;
  isPaused = false;

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }
}

/** A pacer whose event loop turns the test runs one by one. */
function manualPacer() {
  const deferred: (() => void)[] = [];
  const pacer = new BodyPacer((resume) => void deferred.push(resume));
  return { pacer, deferred, runTurn: () => deferred.shift()?.() };
}

test('each turn resumes two requests, the longest paused first', () => {
  const { pacer, deferred, runTurn } = manualPacer();
  const requests = Array.from({ length: 5 }, () => new FakeRequest());
  for (const request of requests) pacer.pause(request);
  const paused = () => requests.map(({ isPaused }) => isPaused);
  expect(paused()).toEqual([true, true, true, true, true]);
  expect(deferred).toHaveLength(1);
  runTurn();
  expect(paused()).toEqual([false, false, true, true, true]);
  // A request that delivers its next chunk moves to the end of the queue.
  pacer.pause(requests[0] as FakeRequest);
  runTurn();
  expect(paused()).toEqual([true, false, false, false, true]);
  runTurn();
  expect(paused()).toEqual([false, false, false, false, false]);
  expect(deferred).toEqual([]);
});

test('a destroyed request does not take a turn', () => {
  const { pacer, runTurn } = manualPacer();
  const requests = Array.from({ length: 4 }, () => new FakeRequest());
  for (const request of requests) pacer.pause(request);
  for (const request of requests.slice(0, 2)) request.destroyed = true;
  runTurn();
  expect(requests.map(({ isPaused }) => isPaused)).toEqual([true, true, false, false]);
});

test('a paced stream delivers all of its bytes', async () => {
  const pacer = new BodyPacer();
  const stream = new PassThrough();
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    pacer.pause(stream);
  });
  const bytes = Buffer.alloc(1_000_000, 'abc');
  for (let offset = 0; offset < bytes.length; offset += 50_000)
    stream.write(bytes.subarray(offset, offset + 50_000));
  await new Promise((resolve) => stream.end(resolve).once('end', resolve));
  await expect.poll(() => Buffer.concat(chunks).equals(bytes)).toBe(true);
});
