import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Store } from '../../server/store/store.ts';
import { type Engine, TestStore } from './engines.ts';

/** Gives every test of a suite the same store, emptied before each test, because opening one takes longer than most tests. */
export function eachTestOnOneStore(
  engine: Engine,
  use: (made: { testStore: TestStore; store: Store }) => void | Promise<void>,
): void {
  let testStore: TestStore;
  let store: Store;
  let fresh = true;
  beforeAll(async () => {
    testStore = await TestStore.make(engine);
    store = await testStore.open();
  });
  beforeEach(async () => {
    if (!fresh) await testStore.empty();
    fresh = false;
    await use({ testStore, store });
  });
  afterAll(() => testStore.remove());
}
