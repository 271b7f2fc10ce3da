import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { KeyRing } from '../../server/accounts/key-ring.ts';
import { hashKey } from '../../server/store/keys.ts';
import type { Hearing, News } from '../../server/store/news.ts';
import type { Store } from '../../server/store/store.ts';
import { disableToken, makeToken } from '../store/books.ts';
import { TestStore } from '../store/engines.ts';
import { ManualTimers } from '../support/manual-timers.ts';

const address = '192.0.2.7';

let testStore: TestStore;
let store: Store;
beforeAll(async () => {
  testStore = await TestStore.make('sqlite');
  store = await testStore.open();
});
afterAll(() => testStore.remove());

/** What another gateway does, told by hand. */
class Heard implements Hearing {
  era: number | undefined = 1;
  #hear: (news: News) => void = () => {};

  subscribe(hear: (news: News) => void): () => void {
    this.#hear = hear;
    return () => {};
  }

  tell(news: Partial<News>): void {
    this.#hear({ tokens: new Set(), users: new Set(), leases: new Set(), flood: false, ...news });
  }
}

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

test('only so many keys are kept at hand: the one used longest ago makes room', async () => {
  const { ring, first, second, third, known } = await makeRing([undefined, undefined, undefined], 2);
  await ring.check(first, address);
  await ring.check(second, address);
  ring.recall(first, address);
  await ring.check(third, address);
  expect(known()).toEqual([true, false, true]);
});

test('a key that is checked many times at once is looked up once, and anew after it was dropped', async () => {
  const reads = vi.spyOn(store.read, 'executeQuery');
  const { ring, first } = await makeRing([undefined]);
  await Promise.all(Array.from({ length: 50 }, () => ring.check(first, address)));
  expect(reads).toHaveBeenCalledTimes(1);
  const before = ring.check(first, address);
  ring.drop(hashKey(first));
  await Promise.all([before, ring.check(first, address)]);
  expect(reads).toHaveBeenCalledTimes(3);
  reads.mockRestore();
  await expect(
    Promise.all([ring.check('sk-none', address), ring.check('sk-none', address)]),
  ).rejects.toMatchObject({
    status: 401,
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

  test('a key that changes while it is looked up is known for a second only', async () => {
    const heard = new Heard();
    const { timers, ring, first, known } = await makeRing([undefined], undefined, heard);
    const checked = ring.check(first, address);
    heard.tell({ users: new Set([-1]) });
    await checked;
    timers.advance(999);
    expect(known()).toEqual([true]);
    timers.advance(1);
    expect(known()).toEqual([false]);
  });
});
