import { Ledger } from '../../server/ledger/ledger.ts';
import { type Engine, TestStore } from './engines.ts';

/** A store of the test's own, with a gateway `here` that is at work on its books; `clock` gives epoch milliseconds. */
export async function openBooks(engine: Engine, clock: () => number) {
  const testStore = await TestStore.make(engine);
  const store = await testStore.open();
  await store.run('beat', { id: 'here', beat: 0 });
  return { testStore, store, ledger: new Ledger(store, 'here', clock) };
}
