import { Ledger } from '../../server/quota/ledger.ts';
import type { Store } from '../../server/store/store.ts';
import type { Engine, TestStore } from './engines.ts';
import { eachTestOnOneStore } from './one-store.ts';

interface EmptyLedger {
  testStore: TestStore;
  store: Store;
  ledger: Ledger;
}

/** Provides an empty ledger and a running gateway `here` before each test of a suite. `clock` returns epoch milliseconds. */
export function eachTestOnEmptyLedger(
  engine: Engine,
  clock: () => number,
  use: (made: EmptyLedger) => void | Promise<void>,
): void {
  eachTestOnOneStore(engine, async ({ testStore, store }) => {
    await store.run('recordHeartbeat', { id: 'here', heartbeat: 0 });
    await use({ testStore, store, ledger: new Ledger(store, 'here', clock) });
  });
}
