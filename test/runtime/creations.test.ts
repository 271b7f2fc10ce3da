import { expect, test, vi } from 'vitest';
import { Creations } from '../../server/lib/creations.ts';
import { ManualTimers } from '../support/manual-timers.ts';

const timers = new ManualTimers();

/** Work that ends when told, or with its signal. */
function startWork(creations: Creations) {
  const ended = Promise.withResolvers<string>();
  const result = creations.run((signal) => {
    signal.addEventListener('abort', () => ended.reject(signal.reason));
    if (signal.aborted) ended.reject(signal.reason);
    return ended.promise;
  });
  result.catch(() => {});
  return { result, end: () => ended.resolve('made') };
}

test('stopping waits for what runs, and what that begins', async () => {
  const creations = new Creations(timers);
  const first = startWork(creations);
  let second: ReturnType<typeof startWork> | undefined;
  const chained = first.result.then(() => {
    second = startWork(creations);
  });
  const stopped = vi.fn();
  void creations.stop(1_000).then(stopped);
  first.end();
  await chained;
  await new Promise(setImmediate);
  expect(stopped).not.toHaveBeenCalled();
  second?.end();
  await vi.waitFor(() => expect(stopped).toHaveBeenCalled());
});

test('stopping breaks off what takes too long, and lets nothing begin any more', async () => {
  const creations = new Creations(timers);
  const slow = startWork(creations);
  const stopped = creations.stop(1_000);
  timers.advance(1_000);
  await stopped;
  await expect(slow.result).rejects.toThrow('the gateway stops');
  await expect(startWork(creations).result).rejects.toThrow('the gateway stops');
});

test('a provider that takes for ever is given up', async () => {
  const slow = startWork(new Creations(timers));
  timers.advance(179_999);
  const given = vi.fn();
  slow.result.catch(given);
  await new Promise(setImmediate);
  expect(given).not.toHaveBeenCalled();
  timers.advance(1);
  await expect(slow.result).rejects.toMatchObject({ code: 'UND_ERR_BODY_TIMEOUT' });
});
