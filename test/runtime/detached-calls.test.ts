import { expect, test, vi } from 'vitest';
import { DetachedCalls } from '../../server/lib/detached-calls.ts';
import { ManualTimers } from '../support/manual-timers.ts';

const timers = new ManualTimers();

/** Starts work that ends on `end` or when its signal aborts. */
function startWork(calls: DetachedCalls) {
  const ended = Promise.withResolvers<string>();
  const result = calls.run((signal) => {
    signal.addEventListener('abort', () => ended.reject(signal.reason));
    if (signal.aborted) ended.reject(signal.reason);
    return ended.promise;
  });
  result.catch(() => {});
  return { result, end: () => ended.resolve('made') };
}

test('stop waits for running calls and the calls that these start', async () => {
  const calls = new DetachedCalls(timers);
  const first = startWork(calls);
  let second: ReturnType<typeof startWork> | undefined;
  const chained = first.result.then(() => {
    second = startWork(calls);
  });
  const stopped = vi.fn();
  void calls.stop(1_000).then(stopped);
  first.end();
  await chained;
  await new Promise(setImmediate);
  expect(stopped).not.toHaveBeenCalled();
  second?.end();
  await vi.waitFor(() => expect(stopped).toHaveBeenCalled());
});

test('stop aborts running calls after the grace period and rejects new ones', async () => {
  const calls = new DetachedCalls(timers);
  const slow = startWork(calls);
  const stopped = calls.stop(1_000);
  timers.advance(1_000);
  await stopped;
  await expect(slow.result).rejects.toThrow('the gateway stops');
  await expect(startWork(calls).result).rejects.toThrow('the gateway stops');
});

test('a call is aborted after 180 s', async () => {
  const slow = startWork(new DetachedCalls(timers));
  timers.advance(179_999);
  const given = vi.fn();
  slow.result.catch(given);
  await new Promise(setImmediate);
  expect(given).not.toHaveBeenCalled();
  timers.advance(1);
  await expect(slow.result).rejects.toMatchObject({ code: 'UND_ERR_BODY_TIMEOUT' });
});
