import { StoreUnavailable } from '../../server/store/availability.ts';
import type { Store } from '../../server/store/store.ts';
import type { TestClock } from '../tasks/test-clock.ts';

/** A gateway's way to a store: how the store behaves towards it, and what is under way. */
export class WatchedStore implements Pick<Store, 'run'> {
  readonly #store: Pick<Store, 'run'>;
  readonly #busy = new Set<Promise<unknown>>();
  manner: 'well' | 'away' | 'silent' = 'well';
  /** Commands that were sent. */
  sent = 0;

  constructor(store: Pick<Store, 'run'>) {
    this.#store = store;
  }

  readonly run: Store['run'] = (name, args) => {
    this.sent += 1;
    if (this.manner === 'silent') return new Promise(() => {});
    const away = new StoreUnavailable(new Error('away'));
    const result = this.manner === 'away' ? Promise.reject(away) : this.#store.run(name, args);
    this.#busy.add(result);
    const done = () => void this.#busy.delete(result);
    result.then(done, done);
    return result;
  };

  /** Lets time pass; whatever the store is asked meanwhile is answered at once. */
  pass(time: TestClock, ms: number): Promise<void> {
    return time.advance(ms, async () => {
      for (let quiet = 0; quiet < 3; quiet += 1) {
        if (this.#busy.size > 0) quiet = 0;
        await Promise.allSettled(this.#busy);
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
    });
  }
}
