import type { Drawn } from '../quota/ledger.ts';
import { Batcher } from '../store/batcher.ts';
import type { LeasedTask, LeasedTaskResult } from '../store/commands/new-tasks.ts';
import type { Store } from '../store/store.ts';

const maxBatch = 200;

/** Creates tasks whose quota is leased, so that creations of one key do not wait for its row. */
export class LeasedCreations extends Batcher<LeasedTask, LeasedTaskResult> {
  constructor(store: Pick<Store, 'run'>) {
    super((tasks) => store.run('createLeasedTasks', tasks), maxBatch);
  }
}

/** What became of the quota of a task that was to be made of a lease. */
export function drawnBy({ outcome }: LeasedTaskResult): Drawn {
  if (outcome === 'created') return 'taken';
  return outcome === 'no_lease' ? 'no_lease' : 'kept';
}
