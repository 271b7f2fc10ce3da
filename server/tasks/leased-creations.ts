import type { Drawn } from '../ledger/ledger.ts';
import { StoreUnavailable } from '../store/availability.ts';
import type { LeasedTask, LeasedTaskResult } from '../store/commands/new-tasks.ts';
import type { Store } from '../store/store.ts';
import { forAll } from '../telemetry/work.ts';

interface Waiting {
  task: LeasedTask;
  made: PromiseWithResolvers<LeasedTaskResult>;
}

/** More than this wait for the next write, so that one transaction stays short. */
const maxBatch = 200;

/** Makes tasks whose quota is leased, all that came during one write with the next: creations of one key wait for no row of it. */
export class LeasedCreations {
  readonly #store: Pick<Store, 'run'>;
  #waiting: Waiting[] = [];
  #writing = false;

  constructor(store: Pick<Store, 'run'>) {
    this.#store = store;
  }

  /** Resolves after the commit. When it rejects, nothing is written. */
  create(task: LeasedTask): Promise<LeasedTaskResult> {
    const made = Promise.withResolvers<LeasedTaskResult>();
    this.#waiting.push({ task, made });
    if (!this.#writing) void forAll(() => this.#run());
    return made.promise;
  }

  async #run(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) await this.#write(this.#waiting.splice(0, maxBatch));
    this.#writing = false;
  }

  /** Never rejects: everybody is told. */
  async #write(batch: readonly Waiting[]): Promise<void> {
    try {
      const tasks = batch.map(({ task }) => task);
      const results = await this.#store.run('createLeasedTasks', tasks);
      for (const [index, { made }] of batch.entries())
        made.resolve(results[index] ?? { outcome: 'no_lease' });
    } catch (error) {
      if (batch.length === 1 || error instanceof StoreUnavailable) {
        for (const { made } of batch) made.reject(error);
        return;
      }
      // One of them is at fault, and takes no other along.
      for (const one of batch) await this.#write([one]);
    }
  }
}

/** What became of the quota of a task that was to be made of a lease. */
export function drawnBy({ outcome }: LeasedTaskResult): Drawn {
  if (outcome === 'created') return 'taken';
  return outcome === 'no_lease' ? 'no_lease' : 'kept';
}
