import { Ledger } from '../../server/quota/ledger.ts';
import type { Store } from '../../server/store/store.ts';
import type { Engine, TestStore } from './engines.ts';
import { eachTestOnOneStore } from './one-store.ts';

interface Books {
  testStore: TestStore;
  store: Store;
  ledger: Ledger;
}

/** Before each test of a suite, empty books and a gateway `here` that is at work on them; `clock` gives epoch milliseconds. */
export function booksOfEachTest(engine: Engine, clock: () => number, use: (books: Books) => void): void {
  eachTestOnOneStore(engine, async ({ testStore, store }) => {
    await store.run('recordHeartbeat', { id: 'here', heartbeat: 0 });
    use({ testStore, store, ledger: new Ledger(store, 'here', clock) });
  });
}
