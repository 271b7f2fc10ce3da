import { Ledger } from '../../server/quota/ledger.ts';
import type { Store } from '../../server/store/store.ts';
import type { Engine, TestStore } from './engines.ts';
import { eachTestOnOneStore } from './one-store.ts';

interface Books {
  testStore: TestStore;
  store: Store;
  ledger: Ledger;
}

/** Provides an empty ledger and a running gateway `here` before each test of a suite. `clock` returns epoch milliseconds. */
export function booksOfEachTest(engine: Engine, clock: () => number, use: (books: Books) => void): void {
  eachTestOnOneStore(engine, async ({ testStore, store }) => {
    await store.run('recordHeartbeat', { id: 'here', heartbeat: 0 });
    use({ testStore, store, ledger: new Ledger(store, 'here', clock) });
  });
}
