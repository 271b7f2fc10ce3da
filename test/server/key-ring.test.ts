import { afterEach, describe, expect, test, vi } from 'vitest';
import { KeyRing } from '../../server/keys/key-ring.ts';
import { hashKey } from '../../server/store/keys.ts';
import type { Hearing } from '../../server/store/news.ts';
import type { Store } from '../../server/store/store.ts';
import { disableToken, makeToken } from '../store/books.ts';
import { eachTestOnOneStore } from '../store/one-store.ts';
import { Heard } from '../support/heard.ts';
import { ManualTimers } from '../support/manual-timers.ts';

const address = '192.0.2.7';

let store: Store;
eachTestOnOneStore('sqlite', (made) => {
  store = made.store;
});

/** A ring with a clock of its own, and keys that end in so many seconds, or never. */
async function makeRing(endings: readonly (number | undefined)[], most?: number, hearing?: Hearing) {
  const timers = new ManualTimers();
  const { read } = store;
  const ring = new KeyRing({ store: { read, hearing }, timers, clock: () => timers.now }, most);
  const keys: string[] = [];
  for (const seconds of endings) {
    const key = `sk-${crypto.randomUUID()}`;
    const expiredTime = seconds === undefined ? -1 : timers.now / 1_000 + seconds;
    await makeToken(store, { keyHash: hashKey(key), expiredTime });
    keys.push(key);
  }
  const [first = '', second = '', third = ''] = keys;
  const known = () => keys.map((key) => ring.recall(key, address) !== undefined);
  return { timers, ring, first, second, third, known };
}

test('a key that was checked is known for a second', async () => {
  const { timers, ring, first, known } = await makeRing([undefined]);
  await ring.check(first, address);
  timers.advance(999);
  expect(known()).toEqual([true]);
  timers.advance(1);
  expect(known()).toEqual([false]);
});

test('a key that ends while it is known ends on time', async () => {
  const { timers, ring, first, known } = await makeRing([1]);
  timers.advance(400);
  await ring.check(first, address);
  timers.advance(599);
  expect(known()).toEqual([true]);
  timers.advance(1);
  expect(known()).toEqual([false]);
  await expect(ring.check(first, address)).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
});

test('a key that is disabled is forgotten as soon as it is checked', async () => {
  const { ring, first, known } = await makeRing([undefined]);
  const { tokenId } = await ring.check(first, address);
  await disableToken(store, { id: tokenId });
  await expect(ring.check(first, address)).rejects.toMatchObject({ status: 401 });
  expect(known()).toEqual([false]);
});

test('a key that is for some addresses is refused from others, known or not', async () => {
  const { timers, ring } = await makeRing([]);
  const key = `sk-${crypto.randomUUID()}`;
  await makeToken(store, { keyHash: hashKey(key), allowIps: ['192.0.2.0/28'] });
  expect(await ring.check(key, address)).toMatchObject({ tokenName: 'a key' });
  expect(ring.recall(key, '192.0.2.16')).toBeUndefined();
  expect(ring.recall(key, '192.0.2.15')).toBeDefined();
  timers.advance(1_000);
  await expect(ring.check(key, '192.0.2.16')).rejects.toMatchObject({ status: 401 });
});

test('only so many keys are kept at hand: the one used longest ago makes room', async () => {
  const { ring, first, second, third, known } = await makeRing([undefined, undefined, undefined], 2);
  await ring.check(first, address);
  await ring.check(second, address);
  ring.recall(first, address);
  await ring.check(third, address);
  expect(known()).toEqual([true, false, true]);
});

describe('look-ups', () => {
  afterEach(() => vi.restoreAllMocks());

  test('are shared by those who check a key at once, for a second, and not with one who comes after a change', async () => {
    const reads = vi.spyOn(store.read, 'executeQuery');
    const { timers, ring, first, known } = await makeRing([undefined]);
    const check = () => ring.check(first, address);
    await Promise.all(Array.from({ length: 50 }, check));
    expect(reads).toHaveBeenCalledTimes(1);
    for (const [begins, times] of [
      [() => timers.advance(1_000), 3],
      [() => ring.drop(hashKey(first)), 5],
      [() => ring.forget({ userId: -1 }), 7],
      [() => timers.advance(999), 8],
    ] as const) {
      const before = check();
      begins();
      await Promise.all([before, check()]);
      expect(reads).toHaveBeenCalledTimes(times);
    }
    ring.drop(hashKey(first));
    expect(known()).toEqual([false]);
  });

  test('that end take no later one along', async () => {
    const { ring, first } = await makeRing([undefined]);
    const read = store.read.executeQuery.bind(store.read);
    const reads = vi.spyOn(store.read, 'executeQuery');
    const before = ring.check(first, address);
    ring.drop(hashKey(first));
    const { promise, resolve } = Promise.withResolvers<void>();
    reads.mockImplementationOnce((query) => promise.then(() => read(query)));
    const later = ring.check(first, address);
    await before;
    const joined = ring.check(first, address);
    resolve();
    await Promise.all([later, joined]);
    expect(reads).toHaveBeenCalledTimes(2);
  });

  test('refuse an unknown key', async () => {
    const { ring } = await makeRing([]);
    const message = 'The API key is unknown, disabled, expired or not for use from this address.';
    await expect(
      Promise.all([ring.check('sk-none', address), ring.check('sk-none', address)]),
    ).rejects.toMatchObject({ status: 401, code: 'invalid_api_key', message });
  });
});

describe('where changes by other gateways are heard of', () => {
  test('a key is known for 30 seconds, and no longer than it lasts', async () => {
    const { timers, ring, first, second, known } = await makeRing([undefined, 20], undefined, new Heard());
    for (const key of [first, second]) await ring.check(key, address);
    timers.advance(19_999);
    expect(known()).toEqual([true, true]);
    timers.advance(10_000);
    expect(known()).toEqual([true, false]);
    timers.advance(1);
    expect(known()).toEqual([false, false]);
  });

  test('one that has changed is forgotten at once, with those that share its allowance, and no other', async () => {
    const heard = new Heard();
    const { ring, first, second, known } = await makeRing([undefined, undefined], undefined, heard);
    const [one, other] = [await ring.check(first, address), await ring.check(second, address)];
    heard.tell({ leases: new Set([one.tokenId]) });
    expect(known()).toEqual([true, true]);
    heard.tell({ tokens: new Set([one.tokenId]) });
    expect(known()).toEqual([false, true]);
    heard.tell({ users: new Set([other.userId]) });
    expect(known()).toEqual([false, false]);
    for (const key of [first, second]) await ring.check(key, address);
    heard.tell({ flood: true });
    expect(known()).toEqual([false, false]);

    const maker = await makeToken(store, { requestsPerMinute: 5 });
    const child = { key: 'sk-child-of-another', keyHash: hashKey('sk-child-of-another') };
    await makeToken(store, { keyHash: child.keyHash, allowanceId: maker.id });
    await ring.check(child.key, address);
    heard.tell({ tokens: new Set([maker.id]) });
    expect(ring.recall(child.key, address)).toBeUndefined();

    for (const key of [first, child.key]) await ring.check(key, address);
    ring.forget({ tokenId: maker.id });
    expect(known()).toEqual([true, false]);
    expect(ring.recall(child.key, address)).toBeUndefined();
    await ring.check(second, address);
    ring.forget({ userId: other.userId });
    expect(known()).toEqual([true, false]);
  });

  test('a key is known for a second only while something may be missed, and when it was looked up then', async () => {
    const heard = new Heard();
    const { timers, ring, first, second, known } = await makeRing([undefined, undefined], undefined, heard);
    await ring.check(first, address);
    heard.era = undefined;
    await ring.check(second, address);
    timers.advance(999);
    expect(known()).toEqual([true, true]);
    timers.advance(1);
    expect(known()).toEqual([false, false]);
    // Nothing was missed after all.
    heard.era = 1;
    expect(known()).toEqual([true, false]);
    // The connection is another one.
    heard.era = 2;
    expect(known()).toEqual([false, false]);
  });

  test('a key that may have changed while it was looked up is known for a second only', async () => {
    const heard = new Heard();
    const { timers, ring, first, second, third, known } = await makeRing(
      [undefined, undefined, undefined],
      undefined,
      heard,
    );
    for (const [key, news] of [
      [first, { users: new Set([-1]) }],
      [second, { tokens: new Set([-1]) }],
      [third, { leases: new Set([-1]) }],
    ] as const) {
      const checked = ring.check(key, address);
      heard.tell(news);
      await checked;
    }
    timers.advance(999);
    expect(known()).toEqual([true, true, true]);
    timers.advance(1);
    expect(known()).toEqual([false, false, true]);
  });

  test('after a pause of the process a key is looked up again until all queued changes are processed', async () => {
    const heard = new Heard();
    const { ring, first, second, known } = await makeRing([undefined, undefined], undefined, heard);
    const { tokenId } = await ring.check(first, address);
    await ring.check(second, address);
    heard.pause();
    expect(known()).toEqual([false, false]);
    // A look-up after the pause is as good as ever.
    await ring.check(second, address);
    expect(known()).toEqual([false, true]);
    heard.tell({ tokens: new Set([tokenId]) });
    heard.catchUp();
    expect(known()).toEqual([false, true]);
    await ring.check(first, address);
    heard.pause();
    heard.catchUp();
    expect(known()).toEqual([true, true]);
  });

  test('a look-up during which the process paused is repeated', async () => {
    const heard = new Heard();
    const { ring, first, known } = await makeRing([undefined], undefined, heard);
    const { tokenId } = await ring.check(first, address);
    ring.drop(hashKey(first));
    const read = store.read.executeQuery.bind(store.read);
    const reads = vi.spyOn(store.read, 'executeQuery');
    reads.mockImplementationOnce(async (query) => {
      const result = await read(query);
      await disableToken(store, { id: tokenId });
      heard.pause();
      return result;
    });
    await expect(ring.check(first, address)).rejects.toMatchObject({ status: 401 });
    expect(known()).toEqual([false]);
    reads.mockRestore();
  });

  test('a key is not accepted when the process pauses during every look-up for longer than a second', async () => {
    const heard = new Heard();
    const { timers, ring, first } = await makeRing([undefined], undefined, heard);
    const read = store.read.executeQuery.bind(store.read);
    const reads = vi.spyOn(store.read, 'executeQuery');
    reads.mockImplementation(async (query) => {
      const result = await read(query);
      timers.advance(1_000);
      heard.pause();
      return result;
    });
    await expect(ring.check(first, address)).rejects.toMatchObject({ status: 503 });
    expect(reads).toHaveBeenCalledTimes(3);
    reads.mockRestore();
  });
});
