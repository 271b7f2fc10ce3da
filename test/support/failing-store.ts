import { StoreUnavailable } from '../../server/store/availability.ts';
import type { Store } from '../../server/store/store.ts';
import type { TestClock } from '../tasks/test-clock.ts';

/** A store whose commands can fail or hang, and that knows which commands are running. */
export class FailingStore implements Pick<Store, 'run'> {
  readonly #store: Pick<Store, 'run'>;
  readonly #running = new Set<Promise<unknown>>();
  mode: 'available' | 'unavailable' | 'hanging' = 'available';
  /** Number of commands sent. */
  sent = 0;

  constructor(store: Pick<Store, 'run'>) {
    this.#store = store;
  }

  readonly run: Store['run'] = (name, args) => {
    this.sent += 1;
    if (this.mode === 'hanging') return new Promise(() => {});
    const unavailable = new StoreUnavailable(new Error('away'));
    const result = this.mode === 'unavailable' ? Promise.reject(unavailable) : this.#store.run(name, args);
    this.#running.add(result);
    const done = () => void this.#running.delete(result);
    result.then(done, done);
    return result;
  };

  /** Moves the clock. Commands sent in the meantime complete without delay. */
  pass(time: TestClock, ms: number): Promise<void> {
    return time.advance(ms, async () => {
      for (let quiet = 0; quiet < 3; quiet += 1) {
        if (this.#running.size > 0) quiet = 0;
        await Promise.allSettled(this.#running);
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
    });
  }
}
