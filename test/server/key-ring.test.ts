import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { KeyRing } from '../../server/accounts/key-ring.ts';
import { hashKey } from '../../server/store/keys.ts';
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

/** A ring with a clock of its own, and keys that end in so many seconds, or never. */
async function makeRing(endings: readonly (number | undefined)[], most?: number) {
  const timers = new ManualTimers();
  const ring = new KeyRing({ store, timers, clock: () => timers.now }, most);
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
