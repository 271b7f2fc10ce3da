import { afterEach, describe, expect, test, vi } from 'vitest';
import { KeyCache } from '../../server/keys/key-cache.ts';
import type { ChangeFeed } from '../../server/store/change-feed.ts';
import { hashKey } from '../../server/store/keys.ts';
import type { Store } from '../../server/store/store.ts';
import { disableToken, makeToken } from '../store/ledger.ts';
import { eachTestOnOneStore } from '../store/one-store.ts';
import { FakeChangeFeed } from '../support/fake-change-feed.ts';
import { ManualTimers } from '../support/manual-timers.ts';

const address = '192.0.2.7';

let store: Store;
eachTestOnOneStore('sqlite', (made) => {
  store = made.store;
});

/** Creates a cache with its own clock, and keys that expire after the given seconds, or never. */
async function makeCache(lifetimes: readonly (number | undefined)[], maxSize?: number, feed?: ChangeFeed) {
  const timers = new ManualTimers();
  const { read } = store;
  const cache = new KeyCache({ store: { read, changeFeed: feed }, timers, clock: () => timers.now }, maxSize);
  const keys: string[] = [];
  for (const seconds of lifetimes) {
    const key = `sk-${crypto.randomUUID()}`;
    const expiredTime = seconds === undefined ? -1 : timers.now / 1_000 + seconds;
    await makeToken(store, { keyHash: hashKey(key), expiredTime });
    keys.push(key);
  }
  const [first = '', second = '', third = ''] = keys;
  const cached = () => keys.map((key) => cache.getCached(key, address) !== undefined);
  return { timers, cache, first, second, third, cached };
}

test('a key is cached for 1 s', async () => {
  const { timers, cache, first, cached } = await makeCache([undefined]);
  await cache.authenticate(first, address);
  timers.advance(999);
  expect(cached()).toEqual([true]);
  timers.advance(1);
  expect(cached()).toEqual([false]);
});

test('a cached key expires on time', async () => {
  const { timers, cache, first, cached } = await makeCache([1]);
  timers.advance(400);
  await cache.authenticate(first, address);
  timers.advance(599);
  expect(cached()).toEqual([true]);
  timers.advance(1);
  expect(cached()).toEqual([false]);
  await expect(cache.authenticate(first, address)).rejects.toMatchObject({
    status: 401,
    code: 'invalid_api_key',
  });
});

test('a disabled key is removed from the cache when it is authenticated', async () => {
  const { cache, first, cached } = await makeCache([undefined]);
  const { tokenId } = await cache.authenticate(first, address);
  await disableToken(store, { id: tokenId });
  await expect(cache.authenticate(first, address)).rejects.toMatchObject({ status: 401 });
  expect(cached()).toEqual([false]);
});

test('a key with an address list is refused from other addresses, cached or not', async () => {
  const { timers, cache } = await makeCache([]);
  const key = `sk-${crypto.randomUUID()}`;
  await makeToken(store, { keyHash: hashKey(key), allowIps: ['192.0.2.0/28'] });
  expect(await cache.authenticate(key, address)).toMatchObject({ tokenName: 'a key' });
  expect(cache.getCached(key, '192.0.2.16')).toBeUndefined();
  expect(cache.getCached(key, '192.0.2.15')).toBeDefined();
  timers.advance(1_000);
  await expect(cache.authenticate(key, '192.0.2.16')).rejects.toMatchObject({ status: 401 });
});

test('the least recently used key is evicted from a full cache', async () => {
  const { cache, first, second, third, cached } = await makeCache([undefined, undefined, undefined], 2);
  await cache.authenticate(first, address);
  await cache.authenticate(second, address);
  cache.getCached(first, address);
  await cache.authenticate(third, address);
  expect(cached()).toEqual([true, false, true]);
});

describe('look-ups', () => {
  afterEach(() => vi.restoreAllMocks());

  test('are shared by concurrent requests for 1 s, until a change', async () => {
    const reads = vi.spyOn(store.read, 'executeQuery');
    const { timers, cache, first, cached } = await makeCache([undefined]);
    const check = () => cache.authenticate(first, address);
    await Promise.all(Array.from({ length: 50 }, check));
    expect(reads).toHaveBeenCalledTimes(1);
    for (const [disrupt, times] of [
      [() => timers.advance(1_000), 3],
      [() => cache.invalidateHash(hashKey(first)), 5],
      [() => cache.invalidate({ userId: -1 }), 7],
      [() => timers.advance(999), 8],
    ] as const) {
      const before = check();
      disrupt();
      await Promise.all([before, check()]);
      expect(reads).toHaveBeenCalledTimes(times);
    }
    cache.invalidateHash(hashKey(first));
    expect(cached()).toEqual([false]);
  });

  test('that end do not remove a later one', async () => {
    const { cache, first } = await makeCache([undefined]);
    const read = store.read.executeQuery.bind(store.read);
    const reads = vi.spyOn(store.read, 'executeQuery');
    const before = cache.authenticate(first, address);
    cache.invalidateHash(hashKey(first));
    const { promise, resolve } = Promise.withResolvers<void>();
    reads.mockImplementationOnce((query) => promise.then(() => read(query)));
    const later = cache.authenticate(first, address);
    await before;
    const joined = cache.authenticate(first, address);
    resolve();
    await Promise.all([later, joined]);
    expect(reads).toHaveBeenCalledTimes(2);
  });

  test('refuse an unknown key', async () => {
    const { cache } = await makeCache([]);
    const message = 'The API key is unknown, disabled, expired or not for use from this address.';
    await expect(
      Promise.all([cache.authenticate('sk-none', address), cache.authenticate('sk-none', address)]),
    ).rejects.toMatchObject({ status: 401, code: 'invalid_api_key', message });
  });
});

describe('with a change feed', () => {
  test('a key is cached for 30 s, and at most until it expires', async () => {
    const { timers, cache, first, second, cached } = await makeCache(
      [undefined, 20],
      undefined,
      new FakeChangeFeed(),
    );
    for (const key of [first, second]) await cache.authenticate(key, address);
    timers.advance(19_999);
    expect(cached()).toEqual([true, true]);
    timers.advance(10_000);
    expect(cached()).toEqual([true, false]);
    timers.advance(1);
    expect(cached()).toEqual([false, false]);
  });

  test('a change removes the key and those that share its allowance, and no other', async () => {
    const feed = new FakeChangeFeed();
    const { cache, first, second, cached } = await makeCache([undefined, undefined], undefined, feed);
    const [one, other] = [
      await cache.authenticate(first, address),
      await cache.authenticate(second, address),
    ];
    feed.announce({ recalledKeyIds: new Set([one.tokenId]) });
    expect(cached()).toEqual([true, true]);
    feed.announce({ keyIds: new Set([one.tokenId]) });
    expect(cached()).toEqual([false, true]);
    feed.announce({ userIds: new Set([other.userId]) });
    expect(cached()).toEqual([false, false]);
    for (const key of [first, second]) await cache.authenticate(key, address);
    feed.announce({ overflow: true });
    expect(cached()).toEqual([false, false]);

    const maker = await makeToken(store, { requestsPerMinute: 5 });
    const child = { key: 'sk-child-of-another', keyHash: hashKey('sk-child-of-another') };
    await makeToken(store, { keyHash: child.keyHash, allowanceId: maker.id });
    await cache.authenticate(child.key, address);
    feed.announce({ keyIds: new Set([maker.id]) });
    expect(cache.getCached(child.key, address)).toBeUndefined();

    for (const key of [first, child.key]) await cache.authenticate(key, address);
    cache.invalidate({ tokenId: maker.id });
    expect(cached()).toEqual([true, false]);
    expect(cache.getCached(child.key, address)).toBeUndefined();
    await cache.authenticate(second, address);
    cache.invalidate({ userId: other.userId });
    expect(cached()).toEqual([true, false]);
  });

  test('a key is cached for 1 s while the feed is disconnected, and when it was looked up then', async () => {
    const feed = new FakeChangeFeed();
    const { timers, cache, first, second, cached } = await makeCache([undefined, undefined], undefined, feed);
    await cache.authenticate(first, address);
    feed.epoch = undefined;
    await cache.authenticate(second, address);
    timers.advance(999);
    expect(cached()).toEqual([true, true]);
    timers.advance(1);
    expect(cached()).toEqual([false, false]);
    // The feed has reconnected without a gap.
    feed.epoch = 1;
    expect(cached()).toEqual([true, false]);
    // The connection is a new one.
    feed.epoch = 2;
    expect(cached()).toEqual([false, false]);
  });

  test('a key that may have changed during the look-up is cached for 1 s', async () => {
    const feed = new FakeChangeFeed();
    const { timers, cache, first, second, third, cached } = await makeCache(
      [undefined, undefined, undefined],
      undefined,
      feed,
    );
    for (const [key, changes] of [
      [first, { userIds: new Set([-1]) }],
      [second, { keyIds: new Set([-1]) }],
      [third, { recalledKeyIds: new Set([-1]) }],
    ] as const) {
      const checked = cache.authenticate(key, address);
      feed.announce(changes);
      await checked;
    }
    timers.advance(999);
    expect(cached()).toEqual([true, true, true]);
    timers.advance(1);
    expect(cached()).toEqual([false, false, true]);
  });

  test('after a pause of the process a key is looked up again until all queued changes are processed', async () => {
    const feed = new FakeChangeFeed();
    const { cache, first, second, cached } = await makeCache([undefined, undefined], undefined, feed);
    const { tokenId } = await cache.authenticate(first, address);
    await cache.authenticate(second, address);
    feed.pause();
    expect(cached()).toEqual([false, false]);
    // A look-up after the pause is valid.
    await cache.authenticate(second, address);
    expect(cached()).toEqual([false, true]);
    feed.announce({ keyIds: new Set([tokenId]) });
    feed.catchUp();
    expect(cached()).toEqual([false, true]);
    await cache.authenticate(first, address);
    feed.pause();
    feed.catchUp();
    expect(cached()).toEqual([true, true]);
  });

  test('a look-up during which the process paused is repeated', async () => {
    const feed = new FakeChangeFeed();
    const { cache, first, cached } = await makeCache([undefined], undefined, feed);
    const { tokenId } = await cache.authenticate(first, address);
    cache.invalidateHash(hashKey(first));
    const read = store.read.executeQuery.bind(store.read);
    const reads = vi.spyOn(store.read, 'executeQuery');
    reads.mockImplementationOnce(async (query) => {
      const result = await read(query);
      await disableToken(store, { id: tokenId });
      feed.pause();
      return result;
    });
    await expect(cache.authenticate(first, address)).rejects.toMatchObject({ status: 401 });
    expect(cached()).toEqual([false]);
    reads.mockRestore();
  });

  test('a key is not accepted when the process pauses during every look-up for longer than a second', async () => {
    const feed = new FakeChangeFeed();
    const { timers, cache, first } = await makeCache([undefined], undefined, feed);
    const read = store.read.executeQuery.bind(store.read);
    const reads = vi.spyOn(store.read, 'executeQuery');
    reads.mockImplementation(async (query) => {
      const result = await read(query);
      timers.advance(1_000);
      feed.pause();
      return result;
    });
    await expect(cache.authenticate(first, address)).rejects.toMatchObject({ status: 503 });
    expect(reads).toHaveBeenCalledTimes(3);
    reads.mockRestore();
  });
});
